import { Link, useSearch } from '@tanstack/react-router';

/** Parts of a page, each with an address of its own. The first is the page itself. */
export function Tabs({
  of,
}: {
  of: readonly { id: string; title: string; content: () => React.ReactNode }[];
}) {
  const search: { tab?: string } = useSearch({ strict: false });
  const open = of.find(({ id }) => id === search.tab) ?? of[0];
  return (
    <>
      <nav className="tabs" aria-label="Parts of this page">
        {of.map(({ id, title }, at) => (
          <Link
            key={id}
            to="."
            search={at === 0 ? {} : { tab: id }}
            aria-current={id === open?.id ? 'page' : undefined}
            activeOptions={{ exact: true }}
          >
            {title}
          </Link>
        ))}
      </nav>
      {open?.content()}
    </>
  );
}
