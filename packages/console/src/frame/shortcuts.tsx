import { useNavigate, useRouter } from '@tanstack/react-router';
import { useLayoutEffect, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Dialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { isTyping } from '../parts/typing.ts';
import type { Place } from './places.ts';

interface ShortcutsProps {
  places: readonly Place[];
  openSearch: (() => void) | undefined;
}

/** Keys that work everywhere: `/` and ⌘K search where there is one, `g` and a letter go, `Esc` goes back, `?` shows them. */
export function Shortcuts({ places, openSearch }: ShortcutsProps) {
  const navigate = useNavigate();
  const router = useRouter();
  const [isShown, setShown] = useState(false);
  // Whoever sees the page may press a key: they are listened for before it is drawn.
  useLayoutEffect(() => {
    let goes = false;
    const press = (event: KeyboardEvent) => {
      if (openSearch && (event.metaKey || event.ctrlKey) && event.key === 'k') {
        event.preventDefault();
        return openSearch();
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('[role="dialog"], [role="alertdialog"]')) return;
      const place = goes ? places.find(({ key }) => key === event.key) : undefined;
      goes = event.key === 'g' && !goes;
      if (place) return void navigate({ to: place.to });
      if (openSearch && event.key === '/') {
        event.preventDefault();
        openSearch();
      } else if (event.key === '?') setShown(true);
      else if (event.key === 'Escape') router.history.back();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [navigate, router, places, openSearch]);

  return (
    <ModalOverlay className="overlay" isDismissable isOpen={isShown} onOpenChange={setShown}>
      <Modal className="modal">
        <Dialog>
          <Heading slot="title">Keys</Heading>
          <dl className="keys">
            {openSearch && <Keys keys={['/']}>Search</Keys>}
            {places.flatMap(({ key, title }) =>
              key ? (
                <Keys key={key} keys={['g', key]}>
                  {title}
                </Keys>
              ) : (
                []
              ),
            )}
            <Keys keys={['j', 'k']}>Next and previous row</Keys>
            <Keys keys={['Enter']}>Open the row</Keys>
            <Keys keys={['Esc']}>Back</Keys>
            <Keys keys={['?']}>These keys</Keys>
          </dl>
          <Button className="button" slot="close">
            Close
          </Button>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Keys({ keys, children }: { keys: string[]; children: React.ReactNode }) {
  return (
    <div>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{children}</dd>
    </div>
  );
}
