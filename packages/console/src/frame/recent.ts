/** What was opened from the search box: kept for as long as somebody is signed in in this tab, and nowhere else. */

export interface Recent {
  title: string;
  subtitle: string | null;
  to: string;
}

const KEY = 'porter.recent';
const RECENT_MAX = 6;

export function recent(): Recent[] {
  const kept = sessionStorage.getItem(KEY);
  return kept ? (JSON.parse(kept) as Recent[]) : [];
}

export function remember({ title, subtitle, to }: Recent): void {
  const others = recent().filter((one) => one.to !== to);
  sessionStorage.setItem(KEY, JSON.stringify([{ title, subtitle, to }, ...others].slice(0, RECENT_MAX)));
}

export const forgetRecent = (): void => sessionStorage.removeItem(KEY);
