/** Steps that follow each other, how far somebody has come, and what to do next. */
export function Steps({
  label,
  of,
  done,
  actions,
}: {
  label: string;
  of: readonly { title: string; note?: string | undefined }[];
  /** How many are done. */
  done: number;
  actions?: React.ReactNode;
}) {
  return (
    <section className="onboarding" aria-label={label}>
      <ol>
        {of.map(({ title, note }, at) => (
          <li key={title} data-done={at < done || undefined} aria-current={at === done ? 'step' : undefined}>
            <span className="dot" aria-hidden="true">
              {at < done ? '✓' : at + 1}
            </span>
            <span className="words">
              <strong>{title}</strong>
              <span className="soft small">
                {at < done ? (note ?? 'done') : at === done ? 'the next step' : 'later'}
              </span>
            </span>
          </li>
        ))}
      </ol>
      {actions && <div className="actions">{actions}</div>}
    </section>
  );
}
