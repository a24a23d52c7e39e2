import { Link } from '@tanstack/react-router';
import type { Column } from './list.tsx';
import { useMedia } from './media.ts';
import { Empty } from './page.tsx';

/**
 * A short list within a page, of the same look as `List`: all of its rows are here. The first cell of a row leads on, if the row does.
 */
export function Table<Item>({
  label,
  items,
  columns,
  keyOf,
  hrefOf,
  empty,
  more,
}: {
  label: string;
  items: readonly Item[];
  columns: readonly Column<Item>[];
  keyOf: (item: Item) => string;
  hrefOf?: (item: Item) => string;
  empty: React.ReactNode;
  /** Where the rest is, if there is more than what is shown. */
  more?: { to: string; title: string } | undefined;
}) {
  const isPhone = useMedia('(width < 48rem)');
  if (items.length === 0) return <Empty>{empty}</Empty>;
  const shown = isPhone ? columns.filter(({ wideOnly }) => !wideOnly) : columns;
  const fraction = shown.reduce(
    (sum, { width = '1fr' }) => sum + (Number(/^([\d.]+)fr$/.exec(width)?.[1]) || 0),
    0,
  );
  const widthOf = (width = '1fr') => {
    const part = /^([\d.]+)fr$/.exec(width)?.[1];
    return part ? `${(Number(part) / fraction) * 100}%` : width;
  };
  return (
    <>
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {shown.map(({ title, width }) => (
              <th key={title} scope="col" style={isPhone ? undefined : { width: widthOf(width) }}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={keyOf(item)}>
              {shown.map(({ title, cell }, at) => (
                <td key={title} data-title={title}>
                  {at === 0 && hrefOf ? <Link to={hrefOf(item)}>{cell(item)}</Link> : cell(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {more && (
        <p className="more">
          <Link to={more.to}>{more.title}</Link>
        </p>
      )}
    </>
  );
}
