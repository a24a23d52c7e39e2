import { expect, test } from 'vitest';
import { pages, textOf } from '../../support/examples.ts';
import { startHarness } from '../../support/service.ts';

/** Names that only a running service tells. */

const PAGE = 'docs/operating/watching.md';

test('every metric is explained, and nothing else', async () => {
  const { url } = await startHarness();
  const text = await (await fetch(`${url}/metrics`)).text();
  const names = [...text.matchAll(/^# TYPE (\S+) (\S+)/gm)].map(([, name = '', kind]) => ({ name, kind }));

  const [, table = ''] = textOf(PAGE).split('| Metric | Means | Look closer when |\n');
  const explained = [...table.matchAll(/^\| `(porter_\w+)` \|/gm)].map(([, name]) => name);
  expect(explained.sort()).toEqual(names.map(({ name }) => name).sort());

  const samples = names.flatMap(({ name, kind }) => (kind === 'histogram' ? `${name}_bucket` : name));
  const named = pages.flatMap(
    (page) => textOf(page).match(/porter_(?:delivery|http|webhook|database|refusals)\w+/g) ?? [],
  );
  const known = [...samples, ...names.map(({ name }) => name)];
  expect([...new Set(named)].filter((name) => !known.includes(name))).toEqual([]);
});
