import { useId } from 'react';
import { Button } from 'react-aria-components/Button';

/** A line that opens. What is open belongs into the address, so whoever uses it keeps it there. */
export function Disclosure({
  title,
  aside,
  isOpen,
  toggle,
  children,
}: {
  title: React.ReactNode;
  aside?: React.ReactNode;
  isOpen: boolean;
  toggle: (open: boolean) => void;
  children: React.ReactNode;
}) {
  const id = useId();
  return (
    <div className="disclosure">
      <Button aria-expanded={isOpen} aria-controls={id} onPress={() => toggle(!isOpen)}>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d={isOpen ? 'm3 6 5 5 5-5' : 'm6 3 5 5-5 5'} />
        </svg>
        {title}
        {aside && <span className="aside">{aside}</span>}
      </Button>
      {isOpen && (
        <div id={id} className="stack">
          {children}
        </div>
      )}
    </div>
  );
}
