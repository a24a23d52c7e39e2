/** Five states, each a word and a shape, so that none is told by its colour alone. */
export type StateKind = 'fine' | 'waiting' | 'failing' | 'stopped' | 'withheld';

const shapes: Record<StateKind, string> = {
  fine: 'M3 8.5 6.5 12 13 4.5',
  waiting: 'M8 3.5V8l3 2M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13z',
  failing: 'M8 2 15 14H1zM8 6.5v3.2m0 1.8v.3',
  stopped: 'M3.5 3.5h9v9h-9z',
  withheld: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM3.5 12.5l9-9',
};

export function State({ kind, children }: { kind: StateKind; children: React.ReactNode }) {
  return (
    <span className={`state ${kind}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={shapes[kind]} />
      </svg>
      {children}
    </span>
  );
}
