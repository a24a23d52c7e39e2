import MiniSearch from './minisearch.js';
import { part } from './page.js';
import { synonyms } from './synonyms.js';

/** @typedef {{ url: string, title: string, place: string, text: string, weight: number, forOperators: boolean }} Finding */

const SNIPPET_LENGTH = 140;

const dialog = part('dialog.search', HTMLDialogElement);
const input = part('input', HTMLInputElement, dialog);
const list = part('[role=listbox]', HTMLElement, dialog);
const status = part('[role=status]', HTMLElement, dialog);

/** @type {Promise<MiniSearch<Finding>> | undefined} */
let index;
let selected = 0;

async function load() {
  const response = await fetch('/docs/search.json');
  if (!response.ok) throw new Error(`The index of the search answers ${response.status}.`);
  /** @type {MiniSearch<Finding>} */
  const made = new MiniSearch({
    idField: 'url',
    fields: ['title', 'place', 'text'],
    storeFields: ['url', 'title', 'place', 'text', 'weight', 'forOperators'],
    searchOptions: {
      boost: { title: 5, place: 1.5 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : 0),
      boostDocument: (_id, _term, stored) => Number(stored?.weight),
    },
  });
  made.addAll(await response.json());
  return made;
}

export async function showResults() {
  const query = input.value.trim();
  let found;
  try {
    index ??= load();
    found = await index;
  } catch {
    index = undefined;
    list.replaceChildren();
    status.textContent = 'The search cannot be loaded. Try again in a moment.';
    return;
  }
  // Something else may have been typed meanwhile.
  if (query !== input.value.trim()) return;
  const words = query.split(/\s+/).filter(Boolean);
  const queries = words.map((word) => anyOf([word, ...synonymsOf(word)]));
  /** @type {import('minisearch').Query} */
  const all = { combineWith: 'AND', queries };
  const phrase = words.length > 1 ? synonymsOf(words.join(' ')) : [];
  const hits = found.search(phrase.length > 0 ? { combineWith: 'OR', queries: [all, anyOf(phrase)] } : all);
  draw(hits.length > 0 ? hits : found.search({ combineWith: 'OR', queries }), query);
}

/** @param {string} text */
const synonymsOf = (text) => {
  const key = text.toLowerCase();
  return Object.hasOwn(synonyms, key) ? (synonyms[key] ?? []) : [];
};

/** @param {string[]} phrases @returns {import('minisearch').Query} */
function anyOf(phrases) {
  return {
    combineWith: 'OR',
    queries: phrases.map((phrase) => ({ combineWith: 'AND', queries: phrase.split(' ') })),
  };
}

/**
 * @param {import('minisearch').SearchResult[]} results
 * @param {string} query
 */
function draw(results, query) {
  // Pages for partners first: there are more readers of them.
  const shown = [false, true].flatMap((last) => results.filter((one) => one.forOperators === last));
  list.replaceChildren(...shown.map(option));
  status.textContent = !query
    ? 'Guides, operations, events and errors.'
    : shown.length === 0
      ? 'Nothing found. Try fewer or other words.'
      : `${results.length} ${results.length === 1 ? 'result' : 'results'}`;
  input.setAttribute('aria-expanded', String(shown.length > 0));
  mark(0);
}

/**
 * @param {import('minisearch').SearchResult} result
 * @param {number} at
 */
function option(result, at) {
  const { url, title, place, text } = /** @type {Finding} */ (/** @type {unknown} */ (result));
  const link = document.createElement('a');
  Object.assign(link, { href: url, id: `result-${at}`, role: 'option', tabIndex: -1 });
  link.append(
    element('small', place),
    element('b', ...highlighted(title, result.terms)),
    element('span', ...highlighted(snippet(text, result.terms), result.terms)),
  );
  link.addEventListener('pointermove', () => mark(at));
  return link;
}

/**
 * @param {string} name
 * @param {(string | Node)[]} children
 */
function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

/** The words around the first that was found. @param {string} text @param {string[]} terms */
function snippet(text, terms) {
  const lower = text.toLowerCase();
  const hits = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0);
  const start = hits.length > 0 ? Math.max(0, Math.min(...hits) - 40) : 0;
  const from = start === 0 ? 0 : text.indexOf(' ', start) + 1;
  const cut = text.slice(from, from + SNIPPET_LENGTH);
  return `${from > 0 ? '… ' : ''}${cut}${from + SNIPPET_LENGTH < text.length ? ' …' : ''}`;
}

/** @param {string} text @param {string[]} terms */
function highlighted(text, terms) {
  if (terms.length === 0) return [text];
  const pattern = terms.map((term) => term.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
  return text
    .split(new RegExp(`(${pattern})`, 'giu'))
    .map((piece, at) => (at % 2 === 1 ? element('mark', piece) : piece));
}

/** @param {number} at */
function mark(at) {
  const options = [...list.children];
  selected = options.length === 0 ? 0 : (at + options.length) % options.length;
  for (const [index, one] of options.entries()) one.setAttribute('aria-selected', String(index === selected));
  const chosen = options[selected];
  if (chosen) input.setAttribute('aria-activedescendant', chosen.id);
  else input.removeAttribute('aria-activedescendant');
  return chosen;
}

/** @param {number} step */
function move(step) {
  mark(selected + step)?.scrollIntoView({ block: 'nearest' });
}

input.addEventListener('input', showResults);
input.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown') move(1);
  else if (event.key === 'ArrowUp') move(-1);
  else if (event.key === 'Enter') /** @type {HTMLElement | undefined} */ (list.children[selected])?.click();
  else return;
  event.preventDefault();
});
dialog.addEventListener('click', ({ target }) => {
  // A click beside the box, or on a result that leads to this very page.
  if (target === dialog || (target instanceof Element && target.closest('a, .close'))) dialog.close();
});
