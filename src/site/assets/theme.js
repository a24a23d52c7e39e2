import { keep, part } from './page.js';

const root = document.documentElement;
const system = matchMedia('(prefers-color-scheme: dark)');
const choices = ['system', 'light', 'dark'];

/** The scheme that is seen at this moment. */
export function isDark() {
  return root.dataset.theme ? root.dataset.theme === 'dark' : system.matches;
}

/** @param {() => void} seen Called whenever the scheme that is seen may have changed. */
export function onThemeChange(seen) {
  document.addEventListener('porter:theme', seen);
  system.addEventListener('change', seen);
}

export function setUpTheme() {
  const button = part('button.theme', HTMLButtonElement);
  const show = () => {
    const choice = root.dataset.theme ?? 'system';
    button.setAttribute('aria-label', `Colour scheme: ${choice}`);
    button.title = `Colour scheme: ${choice}`;
  };
  button.addEventListener('click', () => {
    const next = choices[(choices.indexOf(root.dataset.theme ?? 'system') + 1) % choices.length];
    if (next === 'light' || next === 'dark') root.dataset.theme = next;
    else delete root.dataset.theme;
    keep('theme', root.dataset.theme ?? '');
    show();
    document.dispatchEvent(new Event('porter:theme'));
  });
  show();
}
