import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { zone } from '../parts/when.tsx';
import type { Place } from './places.ts';
import { Shortcuts } from './shortcuts.tsx';
import { Theme } from './theme.tsx';

interface FrameProps {
  environment: string;
  /** What the application is called to whoever it is not the operator's: the partner or the practice. */
  whose?: string;
  places: readonly Place[];
  /** Between the brand and the colours. */
  tools?: React.ReactNode;
  me: React.ReactNode;
  openSearch?: () => void;
  children?: React.ReactNode;
}

/** Around every screen: brand, environment and me on top; the rooms beside it. The same for operators, partners and practices. */
export function Frame({ environment, whose, places, tools, me, openSearch, children }: FrameProps) {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { pathname } = useLocation();
  const home = places[0]?.to ?? '/';
  useEffect(() => setMenuOpen(false), [pathname]);

  return (
    <div className="frame" data-environment={environment}>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="bar">
        <Button
          className="icon menu"
          aria-label="Menu"
          aria-expanded={isMenuOpen}
          aria-controls="places"
          onPress={() => setMenuOpen(!isMenuOpen)}
        >
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M4 7h16M4 12h16M4 17h16" />
          </svg>
        </Button>
        <Link to={home} className="brand">
          <Mark />
          <span>Porter</span>
        </Link>
        <strong className="environment">{environment}</strong>
        {whose !== undefined && <bdi className="whose">{whose}</bdi>}
        {tools}
        <Theme />
        {me}
      </header>
      <nav id="places" className="places" aria-label="Rooms" data-open={isMenuOpen || undefined}>
        {places.map(({ title, to }) => (
          <Link key={to} to={to} activeOptions={{ exact: to === home && places.length > 1 }}>
            {title}
          </Link>
        ))}
        <p className="soft">Times are in {zone}.</p>
      </nav>
      <main id="content" tabIndex={-1}>
        <Outlet />
      </main>
      {children}
      <Shortcuts places={places} openSearch={openSearch} />
    </div>
  );
}

export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 24 24" aria-hidden="true">
      <path fill="currentColor" d="M4 22V10a8 8 0 0 1 16 0v12z" />
      <path className="slot" d="M8 13.5h8" />
      <circle className="knob" cx="16" cy="17.5" r="1.1" />
    </svg>
  );
}
