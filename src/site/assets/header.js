import { part } from './page.js';
import { setUpReader } from './reader.js';
import { setUpTheme } from './theme.js';

/** The bar on top, which every page has. */
export function setUpHeader() {
  setUpTheme();
  setUpReader();
  const dialog = part('dialog.search', HTMLDialogElement);
  const input = part('input', HTMLInputElement, dialog);
  const search = async () => {
    // At once, so that what is typed while the rest is loading is not lost.
    if (!dialog.open) dialog.showModal();
    input.select();
    (await import('./search.js')).showResults();
  };
  part('button.find', HTMLButtonElement).addEventListener('click', search);
  const lookup = document.querySelector('form.lookup');
  if (lookup instanceof HTMLFormElement)
    setUpLookup(lookup, (query) => {
      input.value = query;
      search();
    });
  document.addEventListener('keydown', (event) => {
    const slash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event);
    const k = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
    if (!slash && !k) return;
    event.preventDefault();
    search();
  });
}

/**
 * Where there is no page: what the address has at its end is probably what was looked for.
 *
 * @param {HTMLFormElement} form
 * @param {(query: string) => void} search
 */
function setUpLookup(form, search) {
  const query = part('input', HTMLInputElement, form);
  query.value = (location.pathname.split('/').at(-1) ?? '').replaceAll(/[^a-z0-9]+/gi, ' ').trim();
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    search(query.value);
  });
}

/** @param {KeyboardEvent} event */
function isTyping({ target }) {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest('input, textarea, select') !== null)
  );
}
