import { Pick } from '../../parts/filters.tsx';
import { State } from '../../parts/state.tsx';

export function AlertState({ of: { ended_at } }: { of: { ended_at: string | null } }) {
  return ended_at ? <State kind="fine">over</State> : <State kind="failing">open</State>;
}

export type OpenOrOver = 'true' | 'false';

interface PickOpenOrOverProps {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

export function PickOpenOrOver({ value, onChange }: PickOpenOrOverProps) {
  return (
    <Pick
      label="Open or over"
      value={value}
      choices={[
        { value: 'true', title: 'open' },
        { value: 'false', title: 'over' },
      ]}
      any="open or over"
      onChange={onChange}
    />
  );
}
