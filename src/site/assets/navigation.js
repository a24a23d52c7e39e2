import { part } from './page.js';

/** The contents as a drawer where there is no room beside the page. */
export function setUpDrawer() {
  const button = part('button.menu', HTMLButtonElement);
  const contents = part('#contents', HTMLElement);
  const content = part('#content', HTMLElement);

  /** @param {boolean} open */
  const show = (open) => {
    button.setAttribute('aria-expanded', String(open));
    document.body.classList.toggle('drawer-open', open);
    content.inert = open;
  };
  const isOpen = () => button.getAttribute('aria-expanded') === 'true';

  button.addEventListener('click', () => {
    show(!isOpen());
    if (!isOpen()) return;
    // From its beginning: whoever opens it looks for another page than this one.
    contents.scrollTop = 0;
    const first = contents.querySelector('a, summary');
    if (first instanceof HTMLElement) first.focus({ preventScroll: true });
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !isOpen()) return;
    show(false);
    button.focus();
  });
  document.addEventListener('click', ({ target }) => {
    if (!isOpen() || !(target instanceof Element)) return;
    // A link may lead to a place of this very page.
    if (!target.closest('#contents, .bar') || target.closest('#contents a')) show(false);
  });
  // Once there is room for it again, nothing must stay shut off.
  for (const width of ['56.25rem', '68rem'])
    matchMedia(`(min-width: ${width})`).addEventListener('change', () => show(false));
  contents.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
}

/** The page glides from one of its places to another, so that the eye can follow. */
export function setUpGliding() {
  document.querySelector('.columns')?.addEventListener('click', ({ target }) => {
    if (!(target instanceof Element) || !target.closest('a[href^="#"]')) return;
    const { classList } = document.documentElement;
    classList.add('gliding');
    // The browser looks when it sets out, which is before the frame after the next.
    requestAnimationFrame(() => requestAnimationFrame(() => classList.remove('gliding')));
  });
}

/** Marks the section that is being read in the table of contents. */
export function setUpTableOfContents() {
  const links = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll('.toc a')]);
  if (links.length === 0) return;
  const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  const mark = () => {
    const passed = headings.findLastIndex((heading) => heading && heading.getBoundingClientRect().top < 140);
    const end = scrollY > 0 && innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const current = end ? links.length - 1 : passed;
    for (const [index, link] of links.entries()) {
      if (index === current) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  };
  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      mark();
    });
  };
  addEventListener('scroll', soon, { passive: true });
  mark();
}
