import { useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components/Button';
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { queryClient } from '../api/client.ts';
import { forgetRecent } from './recent.ts';

interface MeMenuProps {
  name: string;
  /** A role, or whom somebody is here for. */
  what: string;
  /** One that is about whoever is signed in. */
  page?: { title: string; open: () => void };
}

/** Who is signed in, and the way out. */
export function MeMenu({ name, what, page }: MeMenuProps) {
  const navigate = useNavigate();
  const signOut = async () => {
    await fetch('/console/sign-out', { method: 'POST', headers: { 'x-porter-console': '1' } });
    forgetRecent();
    await navigate({ to: '/sign-in' });
    queryClient.clear();
  };
  return (
    <MenuTrigger>
      <Button className="me" aria-label={`Signed in as ${name}`}>
        {[...name][0]?.toUpperCase()}
      </Button>
      <Popover className="popover" placement="bottom end">
        <div className="who">
          <strong>
            <bdi>{name}</bdi>
          </strong>
          <bdi className="soft">{what}</bdi>
        </div>
        <Menu onAction={(key) => (key === 'out' ? void signOut() : page?.open())}>
          {page && <MenuItem id="page">{page.title}</MenuItem>}
          <MenuItem id="out">Sign out</MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
