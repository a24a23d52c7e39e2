import { part } from './page.js';
import { setUpReader } from './reader.js';
import { setUpTheme } from './theme.js';

/** The bar on top, which every page has. */
export function setUpHeader() {
  setUpTheme();
  setUpReader();
  const dialog = part('dialog.search', HTMLDialogElement);
  const search = async () => {
    // At once, so that what is typed while the rest is loading is not lost.
    if (!dialog.open) dialog.showModal();
    part('input', HTMLInputElement, dialog).select();
    (await import('./search.js')).showResults();
  };
  part('button.find', HTMLButtonElement).addEventListener('click', search);
  document.addEventListener('keydown', (event) => {
    const slash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event);
    const k = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
    if (!slash && !k) return;
    event.preventDefault();
    search();
  });
}

/** @param {KeyboardEvent} event */
function isTyping({ target }) {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest('input, textarea, select') !== null)
  );
}
