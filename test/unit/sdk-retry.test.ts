import { describe, expect, it } from 'vitest';
import { PorterApiError, PorterConnectionError, PorterTimeoutError } from '../../packages/sdk/src/index.ts';
import { defaultRuntime } from '../../packages/sdk/src/options.ts';
import { Transport } from '../../packages/sdk/src/transport.ts';
import { answer, clientOf, cut, hang, manualRuntime, problem, startScript } from '../support/sdk.ts';

const busy = (headers = {}) => answer(429, problem('rate_limit_exceeded', 429, { retry_after: 2 }), headers);
const outage = answer(503, problem('service_unavailable', 503), { 'retry-after': '1' });
const fine = answer(200, { id: 'wh_1' });

describe('a call is repeated', () => {
  it('after 429 and 503, with a random share of a time that doubles', async () => {
    const server = await startScript(busy(), outage, busy(), fine);
    const runtime = manualRuntime();
    expect(await clientOf(server.url, { runtime }).webhooks.get('wh_1')).toEqual({ id: 'wh_1' });
    expect(server.requests).toHaveLength(4);
    expect(runtime.waits).toEqual([250, 1000 + 500, 1000]);
  });

  it.each([
    ['seconds', '7', 7000],
    ['a date', 'Mon, 16 Nov 2026 10:00:09 GMT', 9000],
    ['a date that is over', 'Mon, 16 Nov 2026 09:00:00 GMT', 0],
    ['no time at all', 'soon', 0],
  ])('no earlier than Retry-After says: %s', async (_name, value, wait) => {
    const server = await startScript(busy({ 'retry-after': value }), fine);
    const runtime = { ...manualRuntime(), random: () => 0 };
    await clientOf(server.url, { runtime }).webhooks.get('wh_1');
    expect(runtime.waits).toEqual([wait]);
  });

  it('after a lost connection and after a timeout, if that does no harm', async () => {
    const server = await startScript(cut, hang, fine);
    const runtime = manualRuntime();
    await clientOf(server.url, { runtime, timeoutMs: 50 }).submissionTypes.update('a', { suspended: true });
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

  it('as a POST only if nothing was done, or a key names it', async () => {
    const body = { url: 'https://partner.example/hook' };
    const runtime = manualRuntime();
    const limited = await startScript(busy(), fine);
    await clientOf(limited.url, { runtime }).webhooks.create(body);
    expect(limited.requests).toHaveLength(2);

    for (const [step, type] of [
      [outage, PorterApiError],
      [cut, PorterConnectionError],
    ] as const) {
      const server = await startScript(step, fine);
      await expect(clientOf(server.url, { runtime }).webhooks.create(body)).rejects.toThrow(type);
      expect(server.requests).toHaveLength(1);
    }

    const keyed = await startScript(cut, outage, fine);
    const options = { apiKey: 'k', practiceGroupId: 'g', baseUrl: keyed.url, runtime };
    const request = { method: 'POST', path: '/', body, options: { idempotencyKey: 'once' } };
    expect(await new Transport(options).call(request)).toEqual({ id: 'wh_1' });
    expect(keyed.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['once', 'once', 'once']);
  });

  it('as a conditional PATCH only if nothing was done: it would fail because of itself', async () => {
    const lost = await startScript(cut, fine);
    const runtime = manualRuntime();
    const call = clientOf(lost.url, { runtime }).webhooks.update(
      'wh_1',
      { status: 'paused' },
      { ifMatch: '"1"' },
    );
    await expect(call).rejects.toThrow(PorterConnectionError);
    expect(lost.requests).toHaveLength(1);
  });
});

describe('a call is not repeated', () => {
  it.each([400, 401, 403, 404, 409, 412, 422, 500, 502])('after %i', async (status) => {
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
    const server = await startScript(hang);
    const porter = clientOf(server.url, { runtime: manualRuntime() });
    const call = porter.webhooks.get('wh_1', { timeoutMs: 20, maxRetries: 1 });
    await expect(call).rejects.toThrow(PorterTimeoutError);
    expect(server.requests).toHaveLength(2);
  });
});
