import { Pick } from '../parts/filters.tsx';
import { refusals } from './refusal-words.ts';

interface PickRefusalProps {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

export function PickRefusal({ value, onChange }: PickRefusalProps) {
  return (
    <Pick
      label="Reason"
      value={value}
      choices={Object.entries(refusals).map(([code, title]) => ({ value: code, title }))}
      any="of anything"
      onChange={onChange}
    />
  );
}

/** `PATCH /v1/…`: what was called. */
export function Called({ of: { method, path } }: { of: { method: string; path: string } }) {
  return (
    <code>
      {method} <bdi>{path}</bdi>
    </code>
  );
}
