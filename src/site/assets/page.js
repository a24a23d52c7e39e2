/**
 * What the browser remembers: as long as it does, or until the tab is closed. With one that refuses to keep anything it works until the page is
 * left.
 *
 * @typedef {'localStorage' | 'sessionStorage'} Store
 */

/** @type {Map<string, string>} */
const kept = new Map();

/** @param {string} name @param {Store} [store] */
export function recall(name, store = 'localStorage') {
  const value = kept.get(name);
  if (value !== undefined) return value;
  try {
    return window[store].getItem(`porter.${name}`) ?? '';
  } catch {
    return '';
  }
}

/**
 * @param {string} name
 * @param {string} value Nothing is kept for an empty one.
 * @param {Store} [store]
 */
export function keep(name, value, store = 'localStorage') {
  kept.set(name, value);
  try {
    if (value) window[store].setItem(`porter.${name}`, value);
    else window[store].removeItem(`porter.${name}`);
  } catch {
    // Then for this page only.
  }
}

/**
 * The element that the page must have.
 * @template {Element} T
 * @param {string} selector
 * @param {new () => T} kind
 * @param {ParentNode} [within]
 * @returns {T}
 */
export function part(selector, kind, within = document) {
  const found = within.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`The page lacks ${selector}.`);
  return found;
}
