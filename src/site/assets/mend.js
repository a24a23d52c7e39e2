/**
 * What Scalar draws without a name, or under a wrong one, for whoever hears the page instead of seeing it; and cards that it draws dark in a light
 * page. It draws as one scrolls, and anew as one types, so what it has drawn is looked through again and again.
 */
export function mendWhatIsDrawn() {
  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      mend();
    });
  };
  new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
  mend();
}

function mend() {
  for (const field of document.querySelectorAll('[role=combobox]:not([aria-expanded])')) {
    field.setAttribute('aria-expanded', 'false');
    if (!field.getAttribute('aria-label'))
      field.setAttribute('aria-label', field.getAttribute('data-placeholder') || 'Value');
  }
  for (const copy of document.querySelectorAll('button[class*="copy-button"]:not([aria-label])'))
    copy.setAttribute('aria-label', 'Copy');
  for (const editor of document.querySelectorAll('.cm-content:not([aria-label])'))
    editor.setAttribute('aria-label', 'JSON');
  // What is written on it is its name.
  for (const more of document.querySelectorAll('.show-more[aria-label]')) more.removeAttribute('aria-label');
  for (const button of document.querySelectorAll('button[role=none]')) button.removeAttribute('role');
  for (const card of document.querySelectorAll('.request-card.dark-mode')) card.classList.remove('dark-mode');
  // What scrolls must be within reach of the keyboard.
  for (const list of document.querySelectorAll(
    'ul.endpoints:not([tabindex="0"]), .cm-scroller:not([tabindex="0"])',
  ))
    list.setAttribute('tabindex', '0');
}
