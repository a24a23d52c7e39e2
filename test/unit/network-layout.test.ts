import { expect, test } from 'vitest';
import {
  type Area,
  hull,
  layOut,
  type Point,
  wayOut,
} from '../../packages/console/src/screens/access/network-layout.ts';

/** In the picture of networks nobody stands, with their name, in the area of a network that they are not in. */

const area = (id: string, ...members: string[]): Area => ({ id, members });

/** Who stands in an area that is not theirs. */
function strangers(nodes: readonly string[], areas: readonly Area[]): string[] {
  const places = layOut(nodes, areas);
  const at = (id: string) => places.get(id) as Point;
  return areas.flatMap(({ id, members }) => {
    const border = hull(members.map(at));
    return nodes
      .filter((node) => !members.includes(node))
      .filter((node) => Math.hypot(...Object.values(wayOut(border, at(node)) ?? { x: 0, y: 0 })) > 3)
      .map((node) => `${node} in ${id}`);
  });
}

const letters = (count: number) => Array.from({ length: count }, (_, at) => String.fromCharCode(97 + at));

test.each<[string, readonly string[], Area[]]>([
  ['two that share one', letters(6), [area('N', 'a', 'b', 'c', 'd'), area('V', 'd', 'e', 'f')]],
  [
    'two that share one, beside another',
    letters(8),
    [area('O', 'g', 'h'), area('N', 'a', 'b', 'c', 'd'), area('V', 'd', 'e', 'f')],
  ],
  ['two that share two', letters(7), [area('N', 'a', 'b', 'c', 'd'), area('V', 'c', 'd', 'e', 'f', 'g')]],
  [
    'three in a row',
    letters(7),
    [area('N', 'a', 'b', 'c'), area('V', 'c', 'd', 'e'), area('W', 'e', 'f', 'g')],
  ],
  ['one within another', letters(5), [area('N', ...letters(5)), area('V', 'b', 'c')]],
  ['a large and a small one', letters(14), [area('N', ...letters(12)), area('V', 'l', 'm', 'n')]],
])('%s', (_name, nodes, areas) => {
  expect(strangers(nodes, areas)).toEqual([]);
});
