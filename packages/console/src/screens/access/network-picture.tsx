import { Fragment, useMemo, useRef, useState } from 'react';
import { type Area, CELL, hull, layOut, nameplates, type Point } from './network-layout.ts';

/** Practices as points, networks as areas around them. Arrow keys go from practice to practice, Enter opens one. */

export interface Practice {
  id: string;
  name: string;
  /** Told by a shape and a colour: a plus in brass, a minus in red, a key. */
  mark?: 'gains' | 'loses' | 'key' | undefined;
  isFaint?: boolean;
}

export interface NetworkArea extends Area {
  name: string;
  isDraft?: boolean;
}

interface Line {
  from: string;
  to: string;
}

interface PictureProps {
  label: string;
  practices: readonly Practice[];
  areas: readonly NetworkArea[];
  lines?: readonly Line[];
  selected?: string | undefined;
  select: (id: string) => void;
}

const LINE_LENGTH_MAX = 17;
const LINE_PX = 15;
const MARGIN = 16;
/** Smaller, names could not be read: the picture is moved under a smaller window. */
const SCALE_MIN = 0.8;
const SCALE_MAX = 1.25;
const shorten = (name: string) => {
  const characters = [...name];
  return characters.length > LINE_LENGTH_MAX ? `${characters.slice(0, LINE_LENGTH_MAX - 1).join('')}…` : name;
};

/** In two lines at most, between words where that can be. */
function linesOf(name: string): string[] {
  if ([...name].length <= LINE_LENGTH_MAX) return [name];
  const words = name.split(' ');
  let first = words.shift() ?? '';
  while (words[0] !== undefined && [...first, ' ', ...words[0]].length <= LINE_LENGTH_MAX)
    first += ` ${words.shift()}`;
  return [first, words.join(' ')].filter((line) => line !== '').map(shorten);
}

/** Lines from this height on, or up to it. */
function Name({ of: name, x, y, isAbove = false }: { of: string; x: number; y: number; isAbove?: boolean }) {
  const lines = linesOf(name);
  return lines.map((line, at) => (
    <tspan key={at === 0 ? 'first' : 'second'} x={x} y={y + (isAbove ? at - lines.length + 1 : at) * LINE_PX}>
      {line}
    </tspan>
  ));
}

const marks = {
  gains: 'M0-4v8M-4 0h8',
  loses: 'M-4 0h8',
  key: 'M-5.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0M-.5 0h6M3 0v2.5M5.5 0v2.5',
};
const says = { gains: ', joins', loses: ', leaves', key: ', has a key' };

export function Picture({ label, practices, areas, lines = [], selected, select }: PictureProps) {
  const element = useRef<SVGSVGElement>(null);
  const [focused, setFocused] = useState<string>();
  const ids = practices.map(({ id }) => id);
  const shape = JSON.stringify([ids, areas.map(({ id, members }) => [id, members])]);
  const places = useMemo(() => layOut(ids, areas), [shape]);
  const at = (id: string) => places.get(id) ?? { x: 0, y: 0 };
  const width = Math.max(...ids.map((id) => at(id).x)) + CELL.width / 2 + MARGIN;
  const height = Math.max(...ids.map((id) => at(id).y)) + CELL.below + MARGIN;
  const plates = nameplates(areas, at);
  const stop = focused && places.has(focused) ? focused : (selected ?? ids[0]);

  const press = (event: React.KeyboardEvent) => {
    if (!stop) return;
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      return select(stop);
    }
    const next = neighbour(event.key, at(stop), ids, at);
    if (!next) return;
    event.preventDefault();
    setFocused(next);
    element.current?.querySelector<SVGGElement>(`[data-practice="${CSS.escape(next)}"]`)?.focus();
  };

  return (
    // biome-ignore lint/a11y/useSemanticElements: a picture whose points can be picked
    <svg
      ref={element}
      className="picture"
      role="group"
      aria-label={label}
      viewBox={`0 0 ${width} ${height}`}
      style={{ width: width * SCALE_MAX, minWidth: width * SCALE_MIN }}
      onKeyDown={press}
    >
      {areas.map((area, index) => {
        const border = hull(area.members.map(at));
        return (
          <g key={area.id} className={kindOf(area, index)}>
            <polygon points={border.map(({ x, y }) => `${x},${y}`).join(' ')} />
          </g>
        );
      })}
      {lines.map(({ from, to }) => (
        <path key={`${from} ${to}`} className="way" d={curve(at(from), at(to))} />
      ))}
      {/* Names stand on all of them. */}
      {areas.map((area, index) => {
        const plate = at(plates.get(area.id) ?? '');
        // Areas of the same few practices have their names above the same one: a line each.
        const there = areas.filter(({ id }) => plates.get(id) === plates.get(area.id));
        const name = there.length > 1 ? shorten(area.name) : area.name;
        return (
          <g key={area.id} className={kindOf(area, index)}>
            <text>
              <Name of={name} x={plate.x} y={plate.y - 29 - there.indexOf(area) * LINE_PX} isAbove />
              <title>{area.name}</title>
            </text>
          </g>
        );
      })}
      {practices.map(({ id, name, mark, isFaint }) => {
        const { x, y } = at(id);
        const inside = areas.filter(({ members }) => members.includes(id)).map((area) => area.name);
        return (
          <Fragment key={id}>
            {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: nobody focuses a text; the button has the whole name */}
            <text className={isFaint ? 'soft' : undefined} aria-hidden="true">
              <Name of={name} x={x} y={y + 18} />
            </text>
            {/* biome-ignore lint/a11y/useSemanticElements: a button inside of an SVG */}
            <g
              role="button"
              data-practice={id}
              tabIndex={id === stop ? 0 : -1}
              aria-pressed={id === selected}
              aria-label={`${name}${mark ? says[mark] : ''}${inside.length > 0 ? `, in ${inside.join(', ')}` : ', in no network'}`}
              className={['node', mark, isFaint && 'faint'].filter(Boolean).join(' ')}
              transform={`translate(${x} ${y - 8})`}
              onFocus={() => setFocused(id)}
              onClick={() => select(id)}
            >
              <rect x={-CELL.width / 2 + 3} y={-15} width={CELL.width - 6} height={60} rx={8} />
              <circle r={mark ? 10 : 7} />
              {mark && <path d={marks[mark]} />}
            </g>
          </Fragment>
        );
      })}
    </svg>
  );
}

const kindOf = ({ isDraft }: NetworkArea, index: number) =>
  isDraft ? 'area draft' : `area kind-${index % 4}`;

function curve(from: Point, to: Point): string {
  const [x, y] = [(from.x + to.x) / 2 + (to.y - from.y) * 0.15, (from.y + to.y) / 2 - (to.x - from.x) * 0.15];
  return `M${from.x} ${from.y - 8}Q${x} ${y - 8} ${to.x} ${to.y - 8}`;
}

const directions: Record<string, readonly [number, number]> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
};

/** The nearest in that direction; what is beside the way counts as farther. */
function neighbour(
  key: string,
  from: Point,
  ids: readonly string[],
  at: (id: string) => Point,
): string | undefined {
  const direction = directions[key];
  if (!direction) return undefined;
  const [dx, dy] = direction;
  const ahead = ids.flatMap((id) => {
    const [x, y] = [at(id).x - from.x, at(id).y - from.y];
    const along = x * dx + y * dy;
    return along > 1 ? [{ id, far: along + 2 * Math.abs(x * dy - y * dx) }] : [];
  });
  return ahead.sort((a, b) => a.far - b.far)[0]?.id;
}
