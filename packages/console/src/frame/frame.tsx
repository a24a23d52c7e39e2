import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { one, queryClient } from '../api/client.ts';
import { zone } from '../parts/when.tsx';
import { useLive } from './live.ts';
import { places } from './places.ts';
import { forgetRecent } from './recent.ts';
import { Search } from './search.tsx';
import { session, useSession } from './session.ts';
import { Shortcuts } from './shortcuts.tsx';
import { Theme } from './theme.tsx';

/** Around every screen: brand, environment, search, alerts and me on top; the rooms beside it. */
export function Frame() {
  const [isSearching, setSearching] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const openSearch = useCallback(() => setSearching(true), []);
  const { environment } = useSession();
  const { pathname } = useLocation();
  useLive();
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
        <Link to="/" className="brand">
          <Mark />
          <span>Porter</span>
        </Link>
        <strong className="environment">{environment}</strong>
        <Button className="find" onPress={openSearch} aria-keyshortcuts="/ Control+K Meta+K">
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <circle cx="11" cy="11" r="6.5" />
            <path d="m20 20-4.3-4.3" />
          </svg>
          <span>Paste an ID, a name, a URL…</span>
          <kbd>/</kbd>
        </Button>
        <OpenAlerts />
        <Theme />
        <Me />
      </header>
      <nav id="places" className="places" aria-label="Rooms" data-open={isMenuOpen || undefined}>
        {places.map(({ title, to }) => (
          <Link key={to} to={to} activeOptions={{ exact: to === '/' }}>
            {title}
          </Link>
        ))}
        <p className="soft">Times are in {zone}.</p>
      </nav>
      <main id="content" tabIndex={-1}>
        <Outlet />
      </main>
      <Search isOpen={isSearching} setOpen={setSearching} />
      <Shortcuts openSearch={openSearch} />
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

const NO_ALERTS = ['deliveries_given_up', 'approval_pending'];

/** Counted from what every console asks for, which costs the service no more for a thousand of them. */
function OpenAlerts() {
  const { data } = useQuery(one('getAttention', {}));
  const alerts = data?.data.filter(({ kind }) => !NO_ALERTS.includes(kind)) ?? [];
  const count = alerts.reduce((sum, group) => sum + group.count, 0);
  if (count === 0) return null;
  return (
    <Link to="/alerts" className="alerts">
      {count} {count === 1 ? 'alert' : 'alerts'}
    </Link>
  );
}

function Me() {
  const { operator } = useSession();
  const navigate = useNavigate();
  const signOut = async () => {
    await fetch('/console/sign-out', { method: 'POST', headers: { 'x-porter-console': '1' } });
    queryClient.clear();
    forgetRecent();
    await queryClient.resetQueries({ queryKey: session.queryKey });
    await navigate({ to: '/sign-in' });
  };
  return (
    <MenuTrigger>
      <Button className="me" aria-label={`Signed in as ${operator.name}`}>
        {operator.name.slice(0, 1).toUpperCase()}
      </Button>
      <Popover className="popover" placement="bottom end">
        <div className="who">
          <strong>{operator.name}</strong>
          <span className="soft">{operator.role}</span>
        </div>
        <Menu onAction={(key) => (key === 'out' ? void signOut() : void navigate({ to: '/settings' }))}>
          <MenuItem id="settings">Sessions and settings</MenuItem>
          <MenuItem id="out">Sign out</MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
