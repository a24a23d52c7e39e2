import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { isStatus } from '../api/client.ts';
import { Failure } from './failure.tsx';
import { Empty } from './page.tsx';

/**
 * What a query answered, or its skeleton (after 150 ms: most answers come sooner and nothing should flicker), or why there is none. What
 * was there stays while it is asked for again.
 */
export function Loaded<T>({
  query,
  children,
  rows = 6,
}: {
  query: UseQueryResult<T>;
  children: (data: T) => React.ReactNode;
  rows?: number;
}) {
  if (query.data !== undefined) return children(query.data);
  if (isStatus(query.error, 404))
    return <Empty>There is nothing here: it was removed, or never existed.</Empty>;
  if (query.error) return <Failure error={query.error} retry={() => void query.refetch()} />;
  return <Skeleton rows={rows} />;
}

const SKELETON_AFTER_MS = 150;

export function Skeleton({ rows }: { rows: number }) {
  const [visible, setVisible] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setVisible(true), SKELETON_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="skeleton" role="status" aria-label="Loading" data-visible={visible || undefined}>
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} />
      ))}
    </div>
  );
}
