import type { Page } from 'playwright-core';

/** What the Tab key comes to, one thing after the other. */
export interface Stop {
  name: string;
  /** The landmark that it is in: the bar, the rooms or the page itself. */
  part: string;
  top: number;
  bottom: number;
  left: number;
  /** Whether somebody sees that it has the focus. */
  isSeen: boolean;
}

/** Longer than any page under test. */
const STOPS_MAX = 300;

/** From the top of the page until the focus leaves it. */
export async function tabThrough(page: Page): Promise<Stop[]> {
  await page.evaluate(() => {
    const { document } = globalThis as never as { document: { activeElement: { blur(): void } | null } };
    document.activeElement?.blur();
  });
  const stops: Stop[] = [];
  for (let n = 0; n < STOPS_MAX; n++) {
    await page.keyboard.press('Tab');
    const stop = await focused(page);
    // A browser without bars of its own begins again from the top.
    if (!stop || (stop.name === stops[0]?.name && stop.part === stops[0].part)) return stops;
    stops.push(stop);
  }
  throw new Error(`the Tab key does not leave the page after ${STOPS_MAX} stops`);
}

function focused(page: Page): Promise<Stop | null> {
  return page.evaluate(() => {
    // The tests are compiled without the types of browsers.
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const { document, getComputedStyle, scrollY } = globalThis as any;
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    const { top, bottom, left } = element.getBoundingClientRect();
    const { outlineStyle, boxShadow } = getComputedStyle(element);
    const part = (element.closest('main') ?? element.closest('header, nav'))?.localName ?? 'page';
    const isSeen = element.matches(':focus-visible') && (outlineStyle !== 'none' || boxShadow !== 'none');
    const name = `${element.localName} ${element.ariaLabel ?? element.innerText ?? ''}`.trim().slice(0, 60);
    return { name, part, top: top + scrollY, bottom: bottom + scrollY, left, isSeen };
  });
}

/** Where the focus goes up, or back within a line: whoever reads along loses it there. */
export function backwards(stops: readonly Stop[]): string[] {
  return stops.flatMap((stop, at) => {
    const before = stops[at - 1];
    if (!before || before.part !== stop.part) return [];
    const isAbove = stop.bottom <= before.top;
    const isOnSameLine = stop.top < before.bottom && before.top < stop.bottom;
    return isAbove || (isOnSameLine && stop.left < before.left && stop.top <= before.top)
      ? `${before.name} → ${stop.name}`
      : [];
  });
}
