import type { PartnerRefusedRequest } from '../../api/generated.ts';
import { Pick } from '../../parts/filters.tsx';
import { refusals, toPlain } from './refusal-words.ts';

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

/** Every sentence of the answer, at the field that it is about. */
export function Answered({ of: answer }: { of: PartnerRefusedRequest['answer'] }) {
  if (answer.error !== true)
    return (
      <p>
        <bdi>{toPlain(answer.message)}</bdi>
      </p>
    );
  return (
    <ul className="plain">
      {answer.message.map(({ path, message }) => (
        <li key={`${path.join('.')} ${message}`}>
          {path.length > 0 && (
            <code>
              <bdi>{path.join('.')}</bdi>
            </code>
          )}{' '}
          <bdi>{message}</bdi>
        </li>
      ))}
    </ul>
  );
}
