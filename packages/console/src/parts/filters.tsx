import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from 'react-aria-components/Button';

/** The filters of a list are its address: they can be sent to a colleague, and Back takes one off. */
export function useFilters<Name extends string>(names: readonly Name[]) {
  const search: Record<string, string | undefined> = useSearch({ strict: false });
  const navigate = useNavigate();
  const values = Object.fromEntries(
    names.flatMap((name) => (search[name] ? [[name, search[name]]] : [])),
  ) as Partial<Record<Name, string>>;
  const set = (name: Name, value: string | undefined) =>
    navigate({
      to: '.',
      search: (before: Record<string, unknown>) => ({ ...before, [name]: value || undefined }),
    });
  const clear = () => navigate({ to: '.', search: {} });
  return { values, set, clear };
}

interface Choice {
  value: string;
  title: string;
}

/** One word of the sentence that a filter bar reads as. */
export function Pick({
  label,
  value,
  choices,
  any,
  onChange,
}: {
  label: string;
  value: string | undefined;
  choices: readonly Choice[];
  /** What stands there when nothing is picked. */
  any: string;
  onChange: (value: string | undefined) => void;
}) {
  return (
    <select
      className="pick"
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => onChange(event.target.value || undefined)}
    >
      <option value="">{any}</option>
      {choices.map(({ value: one, title }) => (
        <option key={one} value={one}>
          {title}
        </option>
      ))}
    </select>
  );
}

/** A word of the sentence that is typed: it counts when Enter is pressed, or it is left. */
export function TextFilter({
  label,
  value,
  any,
  type = 'text',
  onChange,
}: {
  label: string;
  value: string | undefined;
  /** What stands there when nothing is typed. */
  any: string;
  type?: 'text' | 'datetime-local';
  onChange: (value: string | undefined) => void;
}) {
  const [typed, setTyped] = useState<string>();
  const settle = () => {
    if (typed !== undefined && typed.trim() !== (value ?? '')) onChange(typed.trim() || undefined);
    setTyped(undefined);
  };
  return (
    <input
      className="pick typed"
      aria-label={label}
      type={type}
      placeholder={any}
      value={typed ?? value ?? ''}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={settle}
      onKeyDown={(event) => {
        if (event.key === 'Enter') settle();
      }}
    />
  );
}

/** A filter bar that reads like a sentence: its words and its picks are children. */
export function Sentence({
  children,
  isFiltered,
  clear,
}: {
  children: React.ReactNode;
  isFiltered: boolean;
  clear: () => void;
}) {
  return (
    <search className="sentence">
      {children}
      {isFiltered && (
        <Button className="link" onPress={clear}>
          Show all
        </Button>
      )}
    </search>
  );
}
