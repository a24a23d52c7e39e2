/**
 * Where the practices of networks stand in the picture: those of one network together, those of several between them, nobody on another's
 * name, and nobody inside an area that is not theirs, as far as that can be drawn. The same networks always make the same picture.
 */

export interface Point {
  x: number;
  y: number;
}

export interface Area {
  id: string;
  members: readonly string[];
}

/** What a practice takes, from its point: its name is below, and above is room for the name of an area. */
export const CELL = { width: 124, above: 44, below: 28 };
const HEIGHT = CELL.above + CELL.below;
const PADDING = 8;
const ROUNDS = 400;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

export function layOut(nodes: readonly string[], areas: readonly Area[]): Map<string, Point> {
  const places = new Map(nodes.map((id, index) => [id, begin(id, index, areas)]));
  const at = (id: string) => places.get(id) as Point;
  for (let round = 0; round < ROUNDS; round++) {
    const pull = 0.08 * (1 - round / ROUNDS);
    for (const { members } of areas) {
      const centre = centreOf(members.map(at));
      for (const id of members) move(at(id), centre, pull);
    }
    for (const { members } of areas) {
      const inside = new Set(members);
      const border = hull(members.map(at));
      const centre = centreOf(members.map(at));
      for (const id of nodes) if (!inside.has(id) && contains(border, at(id))) move(at(id), centre, -0.12);
    }
    separate(nodes.map(at));
  }
  const points = [...places.values()];
  const left = Math.min(...points.map(({ x }) => x)) - CELL.width / 2 - PADDING;
  const top = Math.min(...points.map(({ y }) => y)) - CELL.above - PADDING;
  for (const point of points) {
    point.x = Math.round(point.x - left);
    point.y = Math.round(point.y - top);
  }
  return places;
}

/** Each area has a place on a wide grid; its members begin around it, on a spiral. */
function begin(id: string, index: number, areas: readonly Area[]): Point {
  const own = areas.findIndex(({ members }) => members.includes(id));
  const columns = Math.ceil(Math.sqrt(areas.length * 0.7)) || 1;
  const place = own < 0 ? areas.length : own;
  const order = own < 0 ? index : (areas[own]?.members.indexOf(id) ?? 0);
  const distance = 40 * Math.sqrt(order + 0.5);
  return {
    x: (place % columns) * 400 + distance * Math.cos(order * GOLDEN) * 1.6,
    y: Math.floor(place / columns) * 320 + distance * Math.sin(order * GOLDEN),
  };
}

function move(point: Point, centre: Point, part: number): void {
  point.x += (centre.x - point.x) * part;
  point.y += (centre.y - point.y) * part;
}

/** Two that are too near each other go apart, along the side where less is missing. */
function separate(points: readonly Point[]): void {
  for (const [index, one] of points.entries())
    for (const other of points.slice(index + 1)) {
      const x = other.x - one.x || 0.1;
      const y = other.y - one.y || 0.1;
      const missingX = CELL.width - Math.abs(x);
      const missingY = HEIGHT - Math.abs(y);
      if (missingX <= 0 || missingY <= 0) continue;
      if (missingX / CELL.width < missingY / HEIGHT) {
        one.x -= (Math.sign(x) * missingX) / 2;
        other.x += (Math.sign(x) * missingX) / 2;
      } else {
        one.y -= (Math.sign(y) * missingY) / 2;
        other.y += (Math.sign(y) * missingY) / 2;
      }
    }
}

function centreOf(points: readonly Point[]): Point {
  const count = points.length || 1;
  return {
    x: points.reduce((sum, { x }) => sum + x, 0) / count,
    y: points.reduce((sum, { y }) => sum + y, 0) / count,
  };
}

/** The corners of an area around its members: the convex hull of their cells. */
export function hull(points: readonly Point[]): Point[] {
  const { above, below } = CELL;
  const w = CELL.width / 2;
  const corners = points
    .flatMap(({ x, y }) => [
      { x: x - w, y: y - above },
      { x: x + w, y: y - above },
      { x: x + w, y: y + below },
      { x: x - w, y: y + below },
    ])
    .sort((a, b) => a.x - b.x || a.y - b.y);
  const half = (ordered: Point[]) => {
    const kept: Point[] = [];
    for (const corner of ordered) {
      while (kept.length > 1 && turn(kept.at(-2) as Point, kept.at(-1) as Point, corner) <= 0) kept.pop();
      kept.push(corner);
    }
    return kept.slice(0, -1);
  };
  return [...half(corners), ...half(corners.toReversed())];
}

const turn = (a: Point, b: Point, c: Point) => (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);

export function contains(border: readonly Point[], point: Point): boolean {
  return (
    border.length > 2 &&
    border.every((corner, index) => turn(corner, border[(index + 1) % border.length] as Point, point) >= 0)
  );
}

/** Above which of its members an area has its name: the highest one that no other name is above, better one that is in no other area. */
export function nameplates(areas: readonly Area[], at: (id: string) => Point): Map<string, string> {
  const taken = new Set<string>();
  const plates = new Map<string, string>();
  for (const { id, members } of areas) {
    const rank = (member: string) =>
      at(member).y +
      (taken.has(member) ? 100_000 : 0) +
      (areas.some((other) => other.id !== id && other.members.includes(member)) ? 1_000 : 0);
    const [best] = [...members].sort((a, b) => rank(a) - rank(b));
    if (!best) continue;
    taken.add(best);
    plates.set(id, best);
  }
  return plates;
}
