/** What the browser remembers. With one that refuses to keep anything it works until the page is left. */

/** @type {Map<string, string>} */
const kept = new Map();

/** @param {string} name */
export function recall(name) {
  const value = kept.get(name);
  if (value !== undefined) return value;
  try {
    return localStorage.getItem(`porter.${name}`) ?? '';
  } catch {
    return '';
  }
}

/**
 * @param {string} name
 * @param {string} value Nothing is kept for an empty one.
 */
export function keep(name, value) {
  kept.set(name, value);
  try {
    if (value) localStorage.setItem(`porter.${name}`, value);
    else localStorage.removeItem(`porter.${name}`);
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
