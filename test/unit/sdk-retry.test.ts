import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PorterApiError, PorterConnectionError, PorterTimeoutError } from '../../packages/sdk/src/index.ts';
import { defaultRuntime } from '../../packages/sdk/src/options.ts';
import { answer, clientOf, cut, manualRuntime, problem, startScript } from '../support/sdk.ts';

const busy = (headers = {}) => answer(429, problem('rate_limit_exceeded', 429, { retry_after: 2 }), headers);
const outage = answer(503, problem('service_unavailable', 503), { 'retry-after': '1' });
const fine = answer(200, { id: 'wh_1' });
const holdTimers = () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
};
/** Never answers; the caller's time passes as soon as the request is there, and not before. */
const hangFor = (milliseconds: number) => {
  holdTimers();
  return () => void vi.advanceTimersByTime(milliseconds);
};

describe('a call is repeated', () => {
  it('after 429 and 503, with a random share of a time that doubles', async () => {
    const server = await startScript(busy(), outage, busy(), fine);
    const runtime = manualRuntime();
    expect(await clientOf(server.url, { runtime }).webhooks.get('wh_1')).toEqual({ id: 'wh_1' });
    expect(server.requests).toHaveLength(4);
    expect(runtime.waits).toEqual([250, 1000 + 500, 1000]);
  });

  it.each([500, 502, 503, 504, 599])('after %i, when Retry-After says', async (status) => {
    const server = await startScript(answer(status, {}, { 'retry-after': '3' }), fine);
    const runtime = manualRuntime();
    expect(await clientOf(server.url, { runtime }).webhooks.get('wh_1')).toEqual({ id: 'wh_1' });
    expect(runtime.waits).toEqual([3000 + 250]);
  });

  it.each([
    ['seconds', '7', 7000],
    ['a date', 'Mon, 16 Nov 2026 10:00:09 GMT', 9000],
    ['a date that is over', 'Mon, 16 Nov 2026 09:00:00 GMT', 0],
    ['no time at all', 'soon', 0],
    ['no more than an hour, in seconds', '9999999999', 3_600_000],
    ['no more than an hour, as a date', 'Mon, 16 Nov 2099 10:00:00 GMT', 3_600_000],
  ])('no earlier than Retry-After says: %s', async (_name, value, wait) => {
    const server = await startScript(busy({ 'retry-after': value }), fine);
    const runtime = { ...manualRuntime(), random: () => 0 };
    await clientOf(server.url, { runtime, maxRetryMs: 3_600_000 }).webhooks.get('wh_1');
    expect(runtime.waits).toEqual([wait]);
  });

  it('after a lost connection and after a timeout, if that does no harm', async () => {
    const server = await startScript(cut, hangFor(1_000), fine);
    const runtime = manualRuntime();
    await clientOf(server.url, { runtime, timeoutMs: 1_000 }).submissionTypes.update('a', {
      suspended: true,
    });
    expect(server.requests.map(({ method }) => method)).toEqual(['PATCH', 'PATCH', 'PATCH']);
  });

  it('to delete what a lost attempt may have deleted already', async () => {
    const gone = answer(404, problem('not_found', 404));
    const runtime = manualRuntime();
    const lost = await startScript(cut, gone);
    expect(await clientOf(lost.url, { runtime }).webhooks.delete('wh_1')).toBeUndefined();
    const never = await startScript(busy(), gone);
    await expect(clientOf(never.url, { runtime }).webhooks.delete('wh_1')).rejects.toThrow('404 not_found');
  });

  it('as a POST under one key, which nobody else has unless it is given', async () => {
    const body = { url: 'https://partner.example/hook' };
    const runtime = manualRuntime();
    const limited = await startScript(busy(), fine);
    await clientOf(limited.url, { runtime }).webhooks.create(body);
    expect(limited.requests).toHaveLength(2);

    const seen = new Set(limited.requests.map(({ headers }) => headers['idempotency-key']));
    for (const step of [outage, answer(500, problem('internal_error', 500)), cut]) {
      const server = await startScript(step, fine);
      await clientOf(server.url, { runtime }).webhooks.create(body);
      const [first, second] = server.requests.map(({ headers }) => headers['idempotency-key']);
      expect(first).toMatch(/^[0-9a-f-]{36}$/);
      expect(second).toBe(first);
      seen.add(first);
    }
    expect(seen.size).toBe(4);

    const keyed = await startScript(cut, outage, answer(202, { event_id: 'evt_1' }));
    const { events } = clientOf(keyed.url, { runtime });
    const trigger = events.trigger({ event: 'prescription.issued' }, { idempotencyKey: 'once' });
    expect(await trigger).toEqual({ event_id: 'evt_1' });
    expect(keyed.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['once', 'once', 'once']);
  });

  it('as a conditional PATCH only if nothing was done: it would fail because of itself', async () => {
    const runtime = manualRuntime();
    for (const step of [cut, outage, answer(500, problem('internal_error', 500))]) {
      const server = await startScript(step, fine);
      const { webhooks } = clientOf(server.url, { runtime });
      const call = webhooks.update('wh_1', { status: 'paused' }, { ifMatch: '"1"' });
      await expect(call).rejects.toThrow(step === cut ? PorterConnectionError : PorterApiError);
      expect(server.requests).toHaveLength(1);
    }
  });

  it('as a conditional DELETE: a 404 after a lost attempt means that it is done', async () => {
    const gone = answer(404, problem('not_found', 404));
    const server = await startScript(cut, outage, gone);
    const { webhooks } = clientOf(server.url, { runtime: manualRuntime() });
    expect(await webhooks.delete('wh_1', { ifMatch: '"1"' })).toBeUndefined();
    expect(server.requests.map(({ headers }) => headers['if-match'])).toEqual(['"1"', '"1"', '"1"']);
  });
});

describe('a call is not repeated', () => {
  it.each([400, 401, 403, 404, 409, 412, 422, 499])('after %i', async (status) => {
    const server = await startScript(answer(status, {}, { 'retry-after': '1' }));
    await expect(clientOf(server.url).webhooks.get('wh_1')).rejects.toMatchObject({ status });
    expect(server.requests).toHaveLength(1);
  });

  it('more often than allowed, for the client or for the call', async () => {
    const server = await startScript(busy());
    const porter = clientOf(server.url, { runtime: manualRuntime() });
    await expect(porter.webhooks.get('wh_1')).rejects.toThrow('rate_limit_exceeded');
    expect(server.requests).toHaveLength(1 + 3);
    await expect(porter.webhooks.get('wh_1', { maxRetries: 1 })).rejects.toThrow('rate_limit_exceeded');
    expect(server.requests).toHaveLength(4 + 2);
  });

  it('later than allowed: rather than wait in vain, it fails at once', async () => {
    const server = await startScript(busy({ 'retry-after': '40' }));
    const runtime = manualRuntime();
    await expect(clientOf(server.url, { runtime }).webhooks.get('wh_1')).rejects.toThrow(PorterApiError);
    expect(runtime.waits).toHaveLength(2);
    const short = clientOf(server.url, { runtime, maxRetryMs: 39_000 });
    await expect(short.webhooks.get('wh_1')).rejects.toThrow(PorterApiError);
    expect(runtime.waits).toHaveLength(2);
  });

  it('once its signal is aborted, also in the middle of a wait', async () => {
    const server = await startScript(busy({ 'retry-after': '60' }));
    const controller = new AbortController();
    const sleep: typeof defaultRuntime.sleep = (milliseconds, signal) => {
      const wait = defaultRuntime.sleep(milliseconds, signal);
      controller.abort();
      return wait;
    };
    const porter = clientOf(server.url, { runtime: { sleep } });
    const call = porter.webhooks.get('wh_1', { signal: controller.signal });
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.requests).toHaveLength(1);
  });

  it('with more time for each attempt than it has', async () => {
    const server = await startScript(hangFor(20));
    const porter = clientOf(server.url, { runtime: manualRuntime() });
    const call = porter.webhooks.get('wh_1', { timeoutMs: 20, maxRetries: 1 });
    await expect(call).rejects.toThrow(PorterTimeoutError);
    expect(server.requests).toHaveLength(2);
  });
});

describe('a number that JSON cannot hold', () => {
  it.each([Number('twenty'), Number.POSITIVE_INFINITY])(
    'is rejected with the name of its field: %d',
    async (no) => {
      const server = await startScript(fine);
      const { submissionTypes } = clientOf(server.url);
      const update = submissionTypes.update('symptoms', { daily_limit: no });
      await expect(update).rejects.toThrow(`daily_limit: ${no} is not a finite number. Nothing was sent.`);
      const list = submissionTypes.list({ page_size: no });
      await expect(list).rejects.toThrow(`page_size: ${no} is not a finite number. Nothing was sent.`);
      expect(server.requests).toEqual([]);
    },
  );
});

describe('nothing is left behind', () => {
  it('by a call: no timer, and nobody who listens to its signal', async () => {
    holdTimers();
    const { signal } = new AbortController();
    const fetch = async () => Response.json({ id: 'wh_1' });
    await clientOf('https://porter.test', { fetch }).webhooks.get('wh_1', { signal });
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('by a wait, whether it is over or aborted', async () => {
    holdTimers();
    const controller = new AbortController();
    const { signal } = controller;
    const over = defaultRuntime.sleep(50, signal);
    await vi.advanceTimersByTimeAsync(50);
    await over;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    const aborted = defaultRuntime.sleep(50, signal);
    controller.abort();
    await expect(aborted).rejects.toBe(signal.reason);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('by a refusal that means success: its text is not waited for', async () => {
    const cancel = vi.fn();
    const endless = new ReadableStream({ cancel });
    const answers = [new Response('{}', { status: 503 }), new Response(endless, { status: 404 })];
    const fetch = async () => answers.shift() ?? Response.error();
    const porter = clientOf('https://porter.test', { fetch, runtime: manualRuntime() });
    await porter.webhooks.delete('wh_1');
    expect(cancel).toHaveBeenCalledOnce();
  });
});

describe('a time', () => {
  it.each([0, -1, Number.NaN])('of %d ms is none, for the client and for a call', async (timeoutMs) => {
    expect(() => clientOf('https://porter.test', { timeoutMs })).toThrow('timeoutMs: give a number');
    const call = clientOf('https://porter.test').webhooks.get('wh_1', { timeoutMs });
    await expect(call).rejects.toThrow(TypeError);
  });

  it.each([Number.POSITIVE_INFINITY, 2 ** 31, 1e300])('of %d ms does not end at once', async (timeoutMs) => {
    holdTimers();
    const ended: string[] = [];
    const fetch: typeof globalThis.fetch = (_url, init) =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', reject));
    const porter = clientOf('https://porter.test', { fetch, timeoutMs, maxRetries: 0 });
    porter.webhooks.get('wh_1').catch(() => ended.push('call'));
    defaultRuntime.sleep(timeoutMs).then(() => ended.push('wait'));
    await vi.advanceTimersByTimeAsync(86_400_000);
    expect(ended).toEqual([]);
  });
});
