/** What was changed, field by field, before and after. */
export function Differences({ before, after }: { before: unknown; after: unknown }) {
  const changes = differencesOf(before, after);
  if (changes.length === 0) return <span className="soft">nothing that is kept here</span>;
  return (
    <dl className="differences">
      {changes.map(({ name, was, is }) => (
        <div key={name}>
          <dt>{toWords(name)}</dt>
          <dd>
            {was !== undefined && <del>{was}</del>}
            {was !== undefined && is !== undefined && <span aria-hidden="true"> → </span>}
            {is !== undefined && <ins>{is}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface Difference {
  name: string;
  /** undefined: it was not there. */
  was: string | undefined;
  is: string | undefined;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fields within fields are named `address: town`. What is the same on both sides is left out. */
export function differencesOf(before: unknown, after: unknown, within = ''): Difference[] {
  const was = isRecord(before) ? before : {};
  const is = isRecord(after) ? after : {};
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((key) => {
    const name = within ? `${within}: ${key}` : key;
    if (isRecord(was[key]) || isRecord(is[key])) return differencesOf(was[key], is[key], name);
    const one = { name, was: toText(was[key]), is: toText(is[key]) };
    return one.was === one.is ? [] : [one];
  });
}

function toText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === null || value === '') return 'none';
  if (value === true) return 'yes';
  if (value === false) return 'no';
  if (Array.isArray(value))
    return value.length === 0
      ? 'none'
      : value
          .map((one) =>
            isRecord(one) ? JSON.stringify(one) : Array.isArray(one) ? one.join('–') : String(one),
          )
          .join(', ');
  return String(value);
}

const toWords = (name: string): string => name.replaceAll('_', ' ');
