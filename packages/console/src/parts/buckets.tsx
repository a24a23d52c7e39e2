import { CountsTable } from './counts-table.tsx';
import { toExact } from './when.tsx';

export interface BucketPart {
  title: string;
  tone: 'fine' | 'amber' | 'red';
}

export interface Bucket {
  /** When it begins. */
  at: string;
  /** One for each part. */
  counts: readonly number[];
  /** What else is to be known of it. */
  note?: string;
}

const count = new Intl.NumberFormat('en-GB');
const HEIGHT = 64;
const SLOT = 10;

/** What happened over time, as a bar of buckets; and as a table, for whoever does not see it. */
export function Buckets({
  label,
  parts,
  of: buckets,
}: {
  label: string;
  parts: readonly BucketPart[];
  of: readonly Bucket[];
}) {
  const sumOf = (counts: readonly number[]) => counts.reduce((sum, one) => sum + one, 0);
  const highest = Math.max(1, ...buckets.map(({ counts }) => sumOf(counts)));
  const some = buckets.filter(({ counts }) => sumOf(counts) > 0);
  return (
    <figure className="buckets">
      <figcaption>
        {parts.map(({ title, tone }, part) => (
          <span key={title}>
            <span className={`swatch ${tone}`} aria-hidden="true" />
            {title} <strong>{count.format(sumOf(buckets.map(({ counts }) => counts[part] ?? 0)))}</strong>
          </span>
        ))}
      </figcaption>
      <svg
        viewBox={`0 0 ${Math.max(1, buckets.length) * SLOT} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {buckets.map((bucket, at) => (
          <Bar key={bucket.at} of={bucket} parts={parts} at={at} highest={highest} />
        ))}
      </svg>
      <p className="axis soft" aria-hidden="true">
        <span>{buckets[0] && toExact(buckets[0].at)}</span>
        <span>now</span>
      </p>
      <CountsTable
        label={label}
        first="From"
        titles={parts.map(({ title }) => title)}
        rows={some.map(({ at, counts }) => ({ title: toExact(at), counts }))}
      />
    </figure>
  );
}

function Bar({
  of: bucket,
  parts,
  at,
  highest,
}: {
  of: Bucket;
  parts: readonly BucketPart[];
  at: number;
  highest: number;
}) {
  let top = HEIGHT;
  const said = parts.map(({ title }, part) => `${title} ${count.format(bucket.counts[part] ?? 0)}`);
  return (
    <g>
      <title>{`${toExact(bucket.at)}: ${said.join(', ')}${bucket.note ? `. ${bucket.note}` : ''}`}</title>
      <rect className="slot" x={at * SLOT} y={0} width={SLOT} height={HEIGHT} />
      {parts.map(({ title, tone }, part) => {
        const height = ((bucket.counts[part] ?? 0) / highest) * HEIGHT;
        top -= height;
        return (
          <rect key={title} className={tone} x={at * SLOT + 1} y={top} width={SLOT - 2} height={height} />
        );
      })}
    </g>
  );
}
