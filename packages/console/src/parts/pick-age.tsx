import { ages } from './ages.ts';
import { Pick } from './filters.tsx';

interface PickAgeProps {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

export function PickAge({ value, onChange }: PickAgeProps) {
  return <Pick label="When" value={value} choices={ages} any="at any time" onChange={onChange} />;
}
