import { expect, it } from 'vitest';
import { Printer } from '../../src/cli/printer.ts';
import type { World } from '../../src/cli/world.ts';

const rows = [
  { id: 'wh_00Vb13pkZeDP1yAD86FW5V4Dr', url: `https://hooks.example/${'a'.repeat(80)}`, name: 'Ada' },
  { id: 'wh_00Vb1rC4xZeDP1yAD86FW5V4D', url: `https://hooks.example/${'😀'.repeat(40)}`, name: 'Bo' },
];

function table(stdout: Partial<World['stdout']>): string[] {
  const world = { env: { NO_COLOR: '1' }, stdout: { write: () => {}, ...stdout } } as unknown as World;
  return new Printer(world, false)
    .table(rows, [
      ['ID', ({ id }) => id],
      ['URL', ({ url }) => url],
      ['NAME', ({ name }) => name],
    ])
    .split('\n');
}

const whole = (lines: readonly string[]) => rows.every(({ url }, at) => lines[at + 1]?.includes(url));

it.each([40, 60, 80, 120])(
  'a table fits a terminal of %d columns, and shows what it left out as …',
  (columns) => {
    const lines = table({ isTTY: true, columns });
    for (const line of lines) {
      expect(line.length).toBeLessThanOrEqual(columns);
      expect(line.isWellFormed()).toBe(true);
    }
    expect(lines[1]).toMatch(/…/);
  },
);

it('IDs stay whole while another column can be shorter', () => {
  expect(table({ isTTY: true, columns: 60 })[1]).toMatch(
    /^wh_00Vb13pkZeDP1yAD86FW5V4Dr {2}https:\S+… {2}Ada$/,
  );
});

it('a table is whole where it fits, and where it is piped', () => {
  expect(whole(table({ isTTY: true, columns: 200 }))).toBe(true);
  expect(whole(table({ columns: 40 }))).toBe(true);
});

it('a table in a terminal too narrow for its columns is cut at the edge', () => {
  for (const line of table({ isTTY: true, columns: 9 })) expect(line.length).toBeLessThanOrEqual(9);
});
