const count = new Intl.NumberFormat('en-GB');

/** What bars show, for whoever hears the page. */
export function CountsTable({
  label,
  first,
  titles,
  rows,
}: {
  label: string;
  /** What the first column is. */
  first: string;
  titles: readonly string[];
  rows: readonly { title: string; counts: readonly number[] }[];
}) {
  return (
    <div className="visually-hidden">
      <table aria-label={label}>
        <thead>
          <tr>
            <th scope="col">{first}</th>
            {titles.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.title}>
              <th scope="row">{row.title}</th>
              {titles.map((title, at) => (
                <td key={title}>{count.format(row.counts[at] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
