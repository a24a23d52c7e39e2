import 'uplot/dist/uPlot.min.css';
import { useEffect, useId, useRef, useState } from 'react';
import uPlot from 'uplot';

export interface Series {
  label: string;
  /** A token of the palette. */
  colour: '--brand' | '--fine' | '--amber' | '--red' | '--soft';
  /** Lines are told apart by their dashes, too. */
  dash?: readonly number[];
  /** One for each moment; null: nothing was measured. */
  values: readonly (number | null)[];
}

interface ChartProps {
  title: string;
  /** What the numbers are of: `calls a minute`. */
  unit: string;
  /** What the picture shows, for whoever does not see it. */
  summary: string;
  /** Milliseconds since the epoch, oldest first. */
  at: readonly number[];
  series: readonly Series[];
  format: (value: number) => string;
  /** Steps of the scale; those of tens unless given. */
  steps?: number[];
  /** Where the scale ends at least, so that nothing at all is not drawn as a mountain. */
  top: number;
}

const HEIGHT_PX = 150;
const DAY_MS = 86_400_000;
const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** Lines over time. The legend tells the values under the pointer, or the latest ones. */
export function Chart({ title, unit, summary, at, series, format, steps, top }: ChartProps) {
  const id = useId();
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [pointed, setPointed] = useState<number | null>(null);
  const data = [at.map((ms) => ms / 1000), ...series.map(({ values }) => [...values])] as uPlot.AlignedData;
  const isLong = (at.at(-1) ?? 0) - (at[0] ?? 0) > 2 * DAY_MS;
  const latest = useRef({ data, series, format, steps, top, isLong });
  latest.current = { data, series, format, steps, top, isLong };

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const colour = (token: string) => () => colourOf(element, token);
    const axis = { stroke: colour('--soft'), font: '12px system-ui', size: 28 };
    const grid = { stroke: colour('--line'), width: 1 };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT_PX,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 }, sync: { key: 'charts' } },
        scales: { y: { range: (_, __, max) => [0, Math.max(latest.current.top, max * 1.1)] } },
        axes: [
          {
            ...axis,
            grid: { show: false },
            ticks: grid,
            values: (_, moments) =>
              moments.map((second) => (latest.current.isLong ? date : hour).format(second * 1000)),
          },
          {
            ...axis,
            size: (_, marks) => 14 + 7 * Math.max(3, ...(marks ?? []).map(({ length }) => length)),
            ...(latest.current.steps && { incrs: latest.current.steps }),
            grid,
            ticks: { show: false },
            values: (_, marks) => marks.map((mark) => latest.current.format(mark)),
          },
        ],
        series: [
          {},
          ...latest.current.series.map(({ label, colour: token, dash = [] }) => ({
            label,
            stroke: colour(token),
            width: 1.75,
            dash: [...dash],
            points: { show: true, size: 5, filter: alone },
          })),
        ],
        hooks: { setCursor: [({ cursor }) => setPointed(cursor.idx ?? null)] },
      },
      latest.current.data,
      element,
    );
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    resized.observe(element);
    const redraw = () => made.redraw(false);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    const theme = new MutationObserver(redraw);
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      resized.disconnect();
      theme.disconnect();
      scheme.removeEventListener('change', redraw);
      made.destroy();
    };
  }, []);

  useEffect(() => plot.current?.setData(data), [at, series]);

  const shown = pointed !== null && pointed < at.length ? pointed : at.length - 1;
  return (
    <figure className="chart" aria-labelledby={`${id}-title`} aria-describedby={`${id}-summary`}>
      <figcaption>
        <h3 id={`${id}-title`}>{title}</h3>
        <span className="soft">{unit}</span>
      </figcaption>
      <div ref={place} className="plot" aria-hidden="true" />
      <ul className="legend" aria-hidden="true">
        {series.map(({ label, colour, dash, values }) => (
          <li key={label}>
            <svg viewBox="0 0 20 8" aria-hidden="true" style={{ color: `var(${colour})` }}>
              <path d="M0 4h20" strokeDasharray={dash?.join(' ')} />
            </svg>
            {label} <span>{toValue(values[shown], format)}</span>
          </li>
        ))}
        <li className="soft">{pointed === null ? 'latest' : hour.format(at[shown])}</li>
      </ul>
      <p id={`${id}-summary`} className="soft">
        {summary}
      </p>
    </figure>
  );
}

/** A point between two moments at which nothing was measured has no line: it is drawn as a dot. */
const alone = (plot: uPlot, series: number): number[] => {
  const values = plot.data[series] ?? [];
  return [...values.keys()].filter(
    (index) => values[index] != null && values[index - 1] == null && values[index + 1] == null,
  );
};

const toValue = (value: number | null | undefined, format: (value: number) => string) =>
  value === null || value === undefined ? '–' : format(value);

/** The colour that a token has here and now; a canvas knows no tokens. */
function colourOf(element: HTMLElement, token: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${token})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
