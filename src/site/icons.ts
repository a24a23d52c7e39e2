/** Drawn on 24 × 24, in the colour of the text around them. */
const icon = (name: string, shapes: string) =>
  `<svg class="${name}" viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${shapes}</svg>`;

/** The mark: a door with a letter slot. */
export const door = `<svg class="door" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true"><path fill="currentColor" d="M4 22V10a8 8 0 0 1 16 0v12z"/><path class="slot" d="M8 13.5h8"/><circle class="knob" cx="16" cy="17.5" r="1.1"/></svg>`;
export const menu = icon('menu-icon', '<path d="M4 7h16M4 12h16M4 17h16"/>');
export const lens = icon('lens', '<circle cx="11" cy="11" r="6.5"/><path d="m20 20-4.3-4.3"/>');
export const key = icon('key', '<circle cx="8" cy="15" r="4"/><path d="m11 12 8-8m-3 3 3 3m-6 0 2 2"/>');
export const sun = icon(
  'sun',
  '<circle cx="12" cy="12" r="4"/><path d="M12 3v2m0 14v2M3 12h2m14 0h2M5.6 5.6 7 7m10 10 1.4 1.4m0-12.8L17 7M7 17l-1.4 1.4"/>',
);
export const moon = icon('moon', '<path d="M20 14.5A8 8 0 1 1 9.5 4a6.5 6.5 0 0 0 10.5 10.5z"/>');
export const screen = icon(
  'screen',
  '<rect x="3" y="4" width="18" height="12" rx="2"/><path d="M8 20h8m-4-4v4"/>',
);
