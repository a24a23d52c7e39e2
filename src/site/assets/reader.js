import { keep, part, recall } from './page.js';

/**
 * The reader's own key, practice group and operator token, for the examples and for trying out. The browser keeps them until the tab is closed,
 * and sends them only in the calls that the reader makes.
 *
 * @typedef {{ key: string, group: string, token: string }} Reader
 */

// Both end up in commands that people paste into a terminal: nothing but what a key and an ID are made of.
const KEY = /^ptr_(?:test|live)_[0-9A-Za-z]{38}$/;
// The first token may be one of the operator's own making.
const TOKEN = /^[0-9A-Za-z._~+/=-]{8,256}$/;
const GROUP = /^[A-Za-z0-9][A-Za-z0-9._:~-]{0,254}$/;

const STORE = 'sessionStorage';

/** @returns {Reader} */
export function reader() {
  return { key: recall('key', STORE), group: recall('group', STORE), token: recall('token', STORE) };
}

/** @param {() => void} changed */
export function onReaderChange(changed) {
  document.addEventListener('porter:reader', changed);
}

/** What of a key or a token may be seen by whoever looks over a shoulder: its kind and its end. @param {string} secret */
export function masked(secret) {
  return `${/^(ptr_(?:test|live)|pto)_/.exec(secret)?.[0] ?? ''}••••${secret.slice(-4)}`;
}

/** @param {Reader} reader */
function remember({ key, group, token }) {
  keep('key', key, STORE);
  keep('group', group, STORE);
  keep('token', token, STORE);
  document.dispatchEvent(new Event('porter:reader'));
}

export function setUpReader() {
  const button = part('button.reader', HTMLButtonElement);
  const dialog = part('dialog.reader', HTMLDialogElement);
  const form = part('form', HTMLFormElement, dialog);
  const key = part('[name=key]', HTMLInputElement, form);
  const group = part('[name=group]', HTMLInputElement, form);
  const token = part('[name=token]', HTMLInputElement, form);
  const known = part('.known', HTMLElement, dialog);
  const live = part('.live', HTMLElement, dialog);
  const wrong = part('[role=alert]', HTMLElement, dialog);

  const show = () => {
    const current = reader();
    part('span', HTMLElement, button).textContent = current.key ? masked(current.key) : 'Your key';
    button.setAttribute('aria-label', current.key ? `Your key: ${masked(current.key)}` : 'Your key');
    const inUse = [current.key, current.token].filter(Boolean).map(masked);
    known.textContent = inUse.length > 0 ? `In use: ${inUse.join(', ')}` : 'No key yet.';
    live.hidden = !current.key.startsWith('ptr_live_');
    group.value = current.group;
    key.value = '';
    token.value = '';
    wrong.textContent = '';
  };

  button.addEventListener('click', () => {
    show();
    dialog.showModal();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const next = {
      key: key.value.trim() || reader().key,
      group: group.value.trim(),
      token: token.value.trim() || reader().token,
    };
    if (next.key.startsWith('pto_')) {
      wrong.textContent = 'That is an operator token: it goes into the last field.';
      key.focus();
    } else if (next.token && !TOKEN.test(next.token)) {
      wrong.textContent =
        'That is not an operator token. One that the service made begins with pto_, and 40 characters follow.';
      token.focus();
    } else if (next.key && !KEY.test(next.key)) {
      wrong.textContent =
        'That is not a whole key. It begins with ptr_test_ or ptr_live_, and 38 characters follow.';
      key.focus();
    } else if (next.group && !GROUP.test(next.group)) {
      wrong.textContent =
        'The ID of a practice group has letters, digits and . _ : ~ - only, and begins with a letter or digit.';
      group.focus();
    } else {
      remember(next);
      dialog.close();
    }
  });
  part('.clear', HTMLButtonElement, form).addEventListener('click', () => {
    remember({ key: '', group: '', token: '' });
    dialog.close();
  });
  part('.cancel', HTMLButtonElement, form).addEventListener('click', () => dialog.close());
  onReaderChange(show);

  const take = () => {
    const given = takeFromAddress();
    if (!given) return;
    const current = reader();
    if (!current.key || current.key === given.key) {
      remember({ ...current, key: given.key, group: given.group || current.group });
      return;
    }
    // A link must not put somebody else's key in the place of the reader's own.
    show();
    key.value = given.key;
    group.value = given.group || current.group;
    dialog.showModal();
  };
  show();
  take();
  addEventListener('hashchange', take);
}

/**
 * The link that `npm start` prints: /docs#key=…&group=…, with the key of a demo world. A fragment is never sent to a server.
 */
function takeFromAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const key = given.get('key') ?? '';
  if (!key) return undefined;
  const group = given.get('group') ?? '';
  history.replaceState(history.state, '', location.pathname + location.search);
  if (!KEY.test(key) || !key.startsWith('ptr_test_')) return undefined;
  return { key, group: GROUP.test(group) ? group : '' };
}
