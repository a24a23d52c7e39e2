import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';

interface Step {
  title: string;
  /** Below /console. */
  to: string;
}

interface PageProps {
  /** What the page is about, by its name: never a bare ID. */
  title: string;
  /** The way here, without the page itself. */
  trail?: readonly Step[];
  /** Beside the title: the one thing to do next comes first. */
  actions?: React.ReactNode;
  children: React.ReactNode;
}

export function Page({ title, trail = [], actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Porter console`;
  }, [title]);
  return (
    <article className="page">
      <header className="page-head">
        {trail.length > 0 && (
          <nav aria-label="Trail" className="trail">
            {trail.map((step) => (
              <span key={step.to}>
                <Link to={step.to}>{step.title}</Link>
              </span>
            ))}
          </nav>
        )}
        <div className="page-title">
          <h1>
            <bdi>{title}</bdi>
          </h1>
          {actions && <div className="actions">{actions}</div>}
        </div>
      </header>
      {children}
    </article>
  );
}

/** The state of what a page is about, in words, before everything else; with its one next button. */
export function Banner({
  tone,
  children,
  actions,
}: {
  tone: 'fine' | 'waiting' | 'failing' | 'stopped';
  children: React.ReactNode;
  actions?: React.ReactNode;
}) {
  return (
    <section className={`banner ${tone}`} aria-label="State">
      <div>{children}</div>
      {actions && <div className="actions">{actions}</div>}
    </section>
  );
}

export function Section({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: React.ReactNode;
  children: React.ReactNode;
}) {
  const id = `section-${title.toLowerCase().replaceAll(/\W+/g, '-')}`;
  return (
    <section className="section" aria-labelledby={id}>
      <div className="section-head">
        <h2 id={id}>{title}</h2>
        {actions && <div className="actions">{actions}</div>}
      </div>
      {children}
    </section>
  );
}

/** Names and values. What is undefined is left out. */
export function Facts({ of }: { of: Record<string, React.ReactNode> }) {
  return (
    <dl className="facts">
      {Object.entries(of)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Nothing is there, and what would make something appear. */
export function Empty({ children }: { children: React.ReactNode }) {
  return <p className="empty">{children}</p>;
}
