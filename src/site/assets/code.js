import { keep, recall } from './page.js';
import { masked, onReaderChange, reader } from './reader.js';

/** Code blocks: the reader's own values in them, copying, and the same example in several languages. */
export function setUpCode() {
  for (const place of places(document)) place.dataset.placeholder = place.textContent;
  fill();
  onReaderChange(fill);
  for (const figure of document.querySelectorAll('figure.code')) addCopyButton(figure);
  document.addEventListener('copy', copySelection);
  for (const [index, group] of document.querySelectorAll('.tabs').entries()) makeTabs(group, index);
  const tab = recall('tab');
  if (tab) choose(tab);
}

/** @param {ParentNode} within */
function places(within) {
  return /** @type {NodeListOf<HTMLElement>} */ (within.querySelectorAll('[data-fill]'));
}

/** @param {HTMLElement} place */
function valueFor(place) {
  const values = { ...reader(), origin: location.origin };
  const value = values[/** @type {keyof typeof values} */ (place.dataset.fill)];
  return value || (place.dataset.placeholder ?? '');
}

function fill() {
  const { key, token } = reader();
  for (const place of places(document)) {
    const secret = place.dataset.fill === 'key' ? key : place.dataset.fill === 'token' ? token : '';
    place.textContent = secret ? masked(secret) : valueFor(place);
  }
}

/** The text as it would be typed, with the whole key. @param {DocumentFragment} copy */
function wholeText(copy) {
  for (const place of places(copy)) place.textContent = valueFor(place);
  return copy.textContent ?? '';
}

/** @param {Element} figure */
function addCopyButton(figure) {
  const code = figure.querySelector('code');
  if (!code || !navigator.clipboard) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    const range = document.createRange();
    range.selectNodeContents(code);
    const copied = navigator.clipboard.writeText(wholeText(range.cloneContents()));
    button.textContent = await copied.then(
      () => 'Copied',
      () => 'Not allowed',
    );
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2_000);
  });
  button.setAttribute('aria-live', 'polite');
  figure.append(button);
}

/** An example that is selected by hand is copied with the whole key, too. @param {ClipboardEvent} event */
function copySelection(event) {
  const selection = getSelection();
  if (!selection?.rangeCount || !event.clipboardData) return;
  const range = selection.getRangeAt(0);
  const within = range.commonAncestorContainer;
  const element = within instanceof Element ? within : within.parentElement;
  if (!element?.closest('pre')) return;
  event.clipboardData.setData('text/plain', wholeText(range.cloneContents()));
  event.preventDefault();
}

/**
 * @param {Element} group
 * @param {number} index
 */
function makeTabs(group, index) {
  const list = document.createElement('div');
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', 'Language');
  for (const [at, panel] of [...group.children].entries()) {
    const tab = document.createElement('button');
    const title = panel.querySelector('figcaption')?.textContent ?? '';
    Object.assign(tab, { type: 'button', id: `tab-${index}-${at}`, textContent: title });
    tab.setAttribute('role', 'tab');
    panel.id = `panel-${index}-${at}`;
    tab.setAttribute('aria-controls', panel.id);
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', tab.id);
    tab.addEventListener('click', () => {
      // Other examples above may grow or shrink: what was clicked stays where it is.
      const before = tab.getBoundingClientRect().top;
      choose(title);
      keep('tab', title);
      scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: 'instant' });
    });
    list.append(tab);
  }
  list.addEventListener('keydown', moveAlong);
  group.prepend(list);
  select(group, 0);
}

/** @param {KeyboardEvent} event */
function moveAlong(event) {
  const tabs = /** @type {HTMLButtonElement[]} */ ([
    .../** @type {Element} */ (event.currentTarget).children,
  ]);
  const at = tabs.indexOf(/** @type {HTMLButtonElement} */ (event.target));
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[
    event.key
  ];
  const tab = to === undefined ? undefined : tabs[to % tabs.length];
  if (!tab) return;
  event.preventDefault();
  tab.click();
  tab.focus();
}

/** The same language everywhere on the page, where there is one. @param {string} title */
function choose(title) {
  for (const group of document.querySelectorAll('.tabs')) {
    const at = [...group.querySelectorAll('[role=tab]')].findIndex((tab) => tab.textContent === title);
    if (at >= 0) select(group, at);
  }
}

/**
 * @param {Element} group
 * @param {number} at
 */
function select(group, at) {
  for (const [index, tab] of group.querySelectorAll('[role=tab]').entries()) {
    tab.setAttribute('aria-selected', String(index === at));
    tab.setAttribute('tabindex', index === at ? '0' : '-1');
  }
  for (const [index, panel] of group.querySelectorAll(':scope > .panel').entries()) {
    panel.classList.toggle('selected', index === at);
  }
}
