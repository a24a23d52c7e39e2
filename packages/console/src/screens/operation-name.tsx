import { operationTitles } from '../api/generated-titles.ts';

/** An operation of the API by its title, as the reference has it. Its ID is in a tooltip, or beside it in small. */
export function OperationName({ id, withId }: { id: string; withId?: true }) {
  const title = operationTitles[id];
  // Of another version of the service.
  if (title === undefined) return <code>{id}</code>;
  if (!withId) return <span title={id}>{title}</span>;
  return (
    <>
      {title} <code className="soft">{id}</code>
    </>
  );
}
