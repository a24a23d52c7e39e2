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

/** What a practice takes, from its point: its name is below, and above is room for the name of an area. Names have two lines. */
export const CELL = { width: 134, above: 56, below: 40 };
const HEIGHT = CELL.above + CELL.below;
/** Between what is drawn apart. */
const GAP = 16;
/** So much stands beside each other, unless one island is wider. */
const WIDTH = 760;
const ROUNDS = 400;
const CALM_ROUND = 250;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

export function layOut(nodes: readonly string[], areas: readonly Area[]): Map<string, Point> {
  const islands = islandsOf(nodes, areas).map((island) => settle(island.nodes, island.areas));
  const places = new Map<string, Point>();
  const row = { x: 0, y: 0, height: 0 };
  const widest = Math.max(WIDTH, ...islands.map(({ width }) => width));
  for (const island of islands) {
    if (row.x > 0 && row.x + island.width > widest) {
      row.y += row.height + GAP;
      row.x = 0;
      row.height = 0;
    }
    for (const [id, { x, y }] of island.places)
      places.set(id, { x: Math.round(x + row.x + GAP), y: Math.round(y + row.y + GAP) });
    row.x += island.width + GAP;
    row.height = Math.max(row.height, island.height);
  }
  return places;
}

interface Island {
  nodes: string[];
  areas: Area[];
}

/** Networks that share practices, directly or through others, are drawn together; the others beside them. */
function islandsOf(nodes: readonly string[], areas: readonly Area[]): Island[] {
  const islands: Island[] = [];
  for (const area of areas) {
    const touched = islands.filter((island) => area.members.some((id) => island.nodes.includes(id)));
    const [first = { nodes: [], areas: [] }, ...others] = touched;
    if (!islands.includes(first)) islands.push(first);
    for (const other of others) islands.splice(islands.indexOf(other), 1);
    first.areas.push(...others.flatMap((other) => other.areas), area);
    first.nodes = [...new Set([...first.nodes, ...others.flatMap((other) => other.nodes), ...area.members])];
  }
  const placed = new Set(islands.flatMap((island) => island.nodes));
  const alone = nodes.filter((id) => !placed.has(id)).map((id) => ({ nodes: [id], areas: [] }));
  return [...islands, ...alone];
}

/** Pulls the members of an area together, pushes everybody else out of it, and keeps names apart. */
function settle(nodes: readonly string[], areas: readonly Area[]) {
  const places = new Map(nodes.map((id) => [id, begin(id, areas)]));
  const at = (id: string) => places.get(id) as Point;
  for (let round = 0; round < ROUNDS; round++) {
    // In the last rounds nobody is pulled any more: what is left is to keep apart.
    const pull = Math.max(0, 0.08 * (1 - round / CALM_ROUND));
    for (const { members } of areas) {
      const centre = centreOf(members.map(at));
      for (const id of members) move(at(id), centre, pull);
    }
    for (const { members } of areas) {
      const inside = new Set(members);
      const border = hull(members.map(at));
      for (const id of nodes) {
        const way = inside.has(id) ? undefined : wayOut(border, at(id));
        if (!way) continue;
        // The members give way, too: a stranger may stand between them and somebody else.
        at(id).x += way.x * 0.6;
        at(id).y += way.y * 0.6;
        for (const member of members) {
          at(member).x -= way.x * 0.2;
          at(member).y -= way.y * 0.2;
        }
      }
    }
    separate(nodes.map(at));
  }
  const xs = nodes.map((id) => at(id).x);
  const ys = nodes.map((id) => at(id).y);
  const left = Math.min(...xs) - CELL.width / 2;
  const top = Math.min(...ys) - CELL.above;
  for (const point of places.values()) {
    point.x -= left;
    point.y -= top;
  }
  return {
    places,
    width: Math.max(...xs) + CELL.width / 2 - left,
    height: Math.max(...ys) + CELL.below - top,
  };
}

/** Each area has a place on a wide grid; its members begin around it, on a spiral. */
function begin(id: string, areas: readonly Area[]): Point {
  const own = areas.findIndex(({ members }) => members.includes(id));
  const columns = Math.ceil(Math.sqrt(areas.length * 0.7)) || 1;
  const place = Math.max(0, own);
  const order = Math.max(0, areas[own]?.members.indexOf(id) ?? 0);
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

/** The shortest way for a practice and its name to get out of an area; undefined: they are not in it. */
export function wayOut(border: readonly Point[], { x, y }: Point): Point | undefined {
  let shortest = Number.POSITIVE_INFINITY;
  let way: Point | undefined;
  for (const [index, corner] of border.entries()) {
    const next = border[(index + 1) % border.length] as Point;
    const length = Math.hypot(next.x - corner.x, next.y - corner.y) || 1;
    const out = { x: (next.y - corner.y) / length, y: (corner.x - next.x) / length };
    const nearestX = x - (Math.sign(out.x) * CELL.width) / 2;
    const nearestY = out.y > 0 ? y - CELL.above : y + CELL.below;
    const depth = (corner.x - nearestX) * out.x + (corner.y - nearestY) * out.y;
    // Nobody needs more room than a border that is only touched.
    if (depth < 0.5) return undefined;
    if (depth >= shortest) continue;
    shortest = depth;
    way = { x: out.x * depth, y: out.y * depth };
  }
  return way;
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
