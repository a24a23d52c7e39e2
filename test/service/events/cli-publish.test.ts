import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { batchesOf, contentKeys } from '../../../src/cli/commands/events/events.ts';
import { temporaryFolder } from '../../support/afterwards.ts';
import { porter as run, type Surroundings } from '../../support/cli.ts';
import { OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

const { house: harness, world } = await serviceForTests();
const { groupId: group } = world;
const cwd = temporaryFolder();

const porter = (line: string, surroundings: Surroundings = {}) =>
  run(line, {
    cwd,
    ...surroundings,
    env: { PORTER_URL: harness.url, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN },
  });
const json = async (line: string) => {
  const { code, json: value } = await porter(`${line} --json`);
  expect(code).toBe(0);
  return value;
};

describe('events publish', () => {
  const event = (id: string) => ({
    object: 'Appointment',
    id,
    practice_group_id: group,
    event: 'appointment.confirmed',
  });
  const file = (name: string, value: unknown) => {
    writeFileSync(join(cwd, name), typeof value === 'string' ? value : JSON.stringify(value));
    return name;
  };
  const published = async (ids: string[]) =>
    Promise.all(ids.map(async (id) => (await harness.operator('GET', `/events/${id}`)).payload));

  it('builds one event from options', async () => {
    const flags = `--event write-to-record.failed --id w1 --group ${group} --resource Observation --resource-id o1`;
    const { event_ids } = await json(`events publish ${flags}`);
    expect(await published(event_ids)).toEqual([
      {
        object: 'WriteToRecordEntry',
        id: 'w1',
        practice_group_id: group,
        event: 'write-to-record.failed',
        resource: 'Observation',
        resource_id: 'o1',
      },
    ]);
    const again = await json(`events publish ${flags}`);
    expect(again.event_ids).not.toEqual(event_ids);
  });

  it.each([
    ['one event', (one: object) => one],
    ['an array', (one: object) => [one]],
    ['{events}', (one: object) => ({ events: [one] })],
  ])('takes %s from a file and from stdin', async (name, wrap) => {
    const made = await json(`events publish ${file('events.json', wrap(event(`file ${name}`)))}`);
    expect(await published(made.event_ids)).toEqual([event(`file ${name}`)]);
    for (const argument of ['', ' -']) {
      const stdin = JSON.stringify(wrap(event(`stdin${argument} ${name}`)));
      expect((await porter(`events publish${argument}`, { stdin })).stdout).toMatch(/^Accepted evt_\w+\.\n$/);
    }
  });

  it('sends batches of a thousand and goes on after a break without accepting anything twice', async () => {
    const many = Array.from({ length: 2_500 }, (_, at) => event(`apt_${at}`));
    const name = file('many.json', many);
    let calls = 0;
    const breaking: typeof fetch = async (url, init) => {
      if (++calls === 2)
        throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } });
      return fetch(url, init);
    };
    const broken = await porter(`events publish ${name}`, { fetch: breaking });
    expect(broken.code).toBe(3);
    expect(broken.stderr).toContain('Accepted 1000 of 2500 events; it broke off at events 1001 to 2000.');

    expect(broken.stderr).toContain('Run it again to go on: nothing is accepted twice.');

    const whole = await json(`events publish ${name}`);
    expect(whole.event_ids).toHaveLength(2_500);
    expect((await json(`events publish ${name}`)).event_ids).toEqual(whole.event_ids);

    // A mistake that is mended later leaves the batches before it as they were.
    const mended = file('mended.json', [...many.slice(0, 1_000), event('another'), ...many.slice(1_001)]);
    const { event_ids } = await json(`events publish ${mended}`);
    expect(event_ids.slice(0, 1_000)).toEqual(whole.event_ids.slice(0, 1_000));
    expect(event_ids[1_000]).not.toBe(whole.event_ids[1_000]);

    const again = await json(`events publish ${name} --again`);
    expect(new Set([...again.event_ids, ...whole.event_ids]).size).toBe(5_000);

    // A run that broke off is known by its name.
    calls = 0;
    const brokenAgain = await porter(`events publish ${name} --again`, { fetch: breaking });
    const [, run] = /Run it again with --run (run_\w+) to go on/.exec(brokenAgain.stderr) ?? [];
    expect(brokenAgain.stderr).toContain(`This is ${run}.\n`);
    const resumed = await json(`events publish ${name} --run ${run}`);
    expect(resumed.run).toBe(run);
    expect(await json(`events publish ${name} --run ${run}`)).toMatchObject({ event_ids: resumed.event_ids });
    expect(new Set([...resumed.event_ids, ...again.event_ids, ...whole.event_ids]).size).toBe(7_500);
  });

  it('says what was accepted before, and sends it again only with --again', async () => {
    const name = file('monday.json', [event('weekly')]);
    const publish = (flags = '') => porter(`events publish ${name}${flags}`);
    expect(await publish()).toMatchObject({ stdout: expect.stringMatching(/^Accepted evt_/), stderr: '' });
    expect(await publish()).toMatchObject({
      code: 0,
      stdout: 'Accepted 0 of 1 events now.\n',
      stderr: '1 of these were accepted before and are not sent again; --again to mean it.\n',
    });
    expect((await publish(' --json')).json).toEqual({ event_ids: [expect.any(String)], replayed: 1 });
    expect((await publish(' --again')).stdout).toMatch(/^Accepted evt_/);
    expect((await publish(' --again --json')).json).toMatchObject({ replayed: 0, run: expect.any(String) });
  });

  it('keeps a batch within the size that the service takes, and tells equal batches apart', () => {
    const large = Array.from({ length: 3_000 }, () => ({
      ...event('x'.repeat(200)),
      failure_reason: 'y'.repeat(2_000),
    }));
    const batches = batchesOf(large);
    expect(batches.flat()).toEqual(large);
    for (const batch of batches)
      expect(Buffer.byteLength(JSON.stringify({ events: batch }))).toBeLessThan(2 * 1024 * 1024);
    expect(new Set(contentKeys([['a'], ['a'], ['b']], 'file')).size).toBe(3);
  });

  it.each([
    ['{', /events\.json is not JSON/],
    ['[]', /no events in events\.json/],
    ['{"events": 1}', /no events/],
  ])('refuses a file with %s', async (content, says) => {
    const { code, stderr } = await porter(`events publish ${file('events.json', content)}`);
    expect(stderr).toMatch(says);
    expect(code).toBe(1);
  });
});
