import { useState } from 'react';
import { Button } from 'react-aria-components/Button';

/** The same choice as in the documentation: both read it from the same place. */
const KEY = 'porter.theme';
const next: Record<string, string> = { '': 'light', light: 'dark', dark: '' };
const names: Record<string, string> = { '': 'as the system', light: 'light', dark: 'dark' };

function apply(theme: string): void {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

const storedTheme = (): string => localStorage.getItem(KEY) ?? '';

export function Theme() {
  const [theme, setTheme] = useState(storedTheme);
  const turn = () => {
    const chosen = next[theme] ?? '';
    if (chosen) localStorage.setItem(KEY, chosen);
    else localStorage.removeItem(KEY);
    apply(chosen);
    setTheme(chosen);
  };
  return (
    <Button className="icon" aria-label={`Colour scheme: ${names[theme]}`} onPress={turn}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M12 3a9 9 0 1 0 0 18z" fill="currentColor" />
        <circle cx="12" cy="12" r="9" />
      </svg>
    </Button>
  );
}

apply(storedTheme());
