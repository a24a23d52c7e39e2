import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serviceForTests } from '../../support/service.ts';

/** What people are given to watch the service with names only what there is. */

const OPERATING = resolve(import.meta.dirname, '../../../docs/operating');
const read = (file: string) => readFileSync(join(OPERATING, file), 'utf8');
const { house } = await serviceForTests();
const { text } = await house.send('GET', '/metrics');
const metrics = new Set(Array.from(text.matchAll(/^# TYPE (\S+)/gm), ([, name]) => name));
const guide = read('watching.md');

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[];
}

const namesIn = (expression: string) =>
  Array.from(expression.matchAll(/\bporter_\w+/g), ([name]) => name.replace(/_(bucket|sum|count)$/, ''));

describe.each(['porter-alerts.yml', 'grafana-dashboard.json'])('%s', (file) => {
  it('names metrics that there are', () => {
    const names = namesIn(read(file));
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => !metrics.has(name))).toEqual([]);
  });
});

it('the guide tells of every metric, and of every alert with what to do', () => {
  const told = Array.from(guide.matchAll(/^\| `(porter_\w+)` \|/gm), ([, name]) => name);
  expect([...metrics].filter((name) => name?.startsWith('porter_')).toSorted()).toEqual(told.toSorted());
  const rules = read('porter-alerts.yml');
  const runbook = read('what-to-do-when.md');
  const headings = Array.from(runbook.matchAll(/^##+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  const alerts = [...rules.matchAll(/- alert: (\w+)[\s\S]*?what-to-do-when#([\w-]+)/g)];
  expect(alerts.length).toBe(rules.match(/- alert:/g)?.length);
  for (const [, name, place] of alerts) {
    expect(guide).toContain(`\`${name}\``);
    expect(headings).toContain(place);
  }
});

it('every panel of the dashboard shows something', () => {
  const { panels }: Dashboard = JSON.parse(read('grafana-dashboard.json'));
  for (const { title, targets } of panels)
    expect(namesIn(targets.map(({ expr }) => expr).join(' ')), title).not.toEqual([]);
});
