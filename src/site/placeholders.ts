/** What stands for the reader's own values. The script of the page puts them in. */
export const PLACEHOLDERS = {
  origin: 'http://127.0.0.1:8080',
  key: 'ptr_test_YOUR_KEY',
  group: 'riverside-surgery',
  token: 'pto_YOUR_TOKEN',
} as const;

/** Marks the places in code that is HTML already. */
export function withPlaceholders(html: string): string {
  return Object.entries(PLACEHOLDERS).reduce(
    (text, [name, value]) => text.replaceAll(value, `<span data-fill="${name}">${value}</span>`),
    html,
  );
}
