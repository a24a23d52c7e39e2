import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { afterwards } from '../../support/afterwards.ts';
import { startReceiver } from '../../support/receiver.ts';
import { type Loose, makeWorld, startHarness } from '../../support/service.ts';

/** Traces and metrics by OTLP, as a collector gets them: the JSON encoding of its protobuf messages. */

interface Posted {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: Loose;
}

async function startCollector() {
  const posted: Posted[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    posted.push({
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString()),
    });
    response.setHeader('content-type', 'application/json').end('{}');
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  afterwards(async () => server.closeAllConnections());
  const spans = () =>
    posted
      .filter(({ path }) => path === '/v1/traces')
      .flatMap(({ body }) => body.resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap(({ spans }) => spans);
  const metrics = () =>
    posted
      .filter(({ path }) => path === '/v1/metrics')
      .flatMap(({ body }) => body.resourceMetrics)
      .flatMap(({ scopeMetrics }) => scopeMetrics)
      .flatMap(({ metrics }) => metrics);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posted,
    spans,
    metrics,
    close: () => server.close(),
  };
}

const valuesOf = (attributes: Loose[]) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue]),
  );

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

it('a trace goes from the caller through the request to the receiver of the delivery', async () => {
  const collector = await startCollector();
  const house = await startHarness({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x',
      OTEL_SERVICE_NAME: 'porter-north',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    },
  });
  const { key, groupId: group } = await makeWorld(house);
  const receiver = await startReceiver();
  const { body: webhook } = await house.send('POST', '/v1/webhooks', {
    key,
    group,
    body: { url: receiver.url },
  });
  const published = await house.send('POST', '/operator/v1/events', {
    token: (await house.operator('POST', '/operators', { name: 'EHR', role: 'source' })).token,
    headers: { traceparent: `00-${TRACE}-${CALLER}-01` },
    body: { object: 'Appointment', id: 'apt_1', practice_group_id: group, event: 'appointment.confirmed' },
  });
  expect(published.status).toBe(202);
  await expect.poll(() => receiver.received.length).toBe(1);
  const told = String(receiver.received[0]?.headers.traceparent);
  expect(told).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));

  await expect
    .poll(async () => (await house.operator('GET', `/deliveries?webhook_id=${webhook.id}`)).data[0].status)
    .toBe('delivered');
  await house.stop();
  const ours = collector.spans().filter(({ traceId }) => traceId === TRACE);
  const request = ours.find(({ parentSpanId }) => parentSpanId === CALLER);
  const delivery = ours.find(({ spanId }) => told.includes(spanId));
  expect(request).toMatchObject({ name: 'POST publishEvents', kind: 2 });
  expect(valuesOf(request.attributes)).toMatchObject({
    'http.response.status_code': 202,
    'porter.operation': 'publishEvents',
    'url.path': '/operator/v1/events',
  });
  expect(delivery).toMatchObject({ name: 'deliver', parentSpanId: request.spanId });
  expect(valuesOf(delivery.attributes)).toMatchObject({
    'http.response.status_code': 200,
    'messaging.message.id': receiver.received[0]?.headers['webhook-id'],
  });
  const [first] = collector.posted;
  expect(first?.headers.authorization).toBe('Bearer x');
  expect(valuesOf(first?.body.resourceSpans?.[0].resource.attributes ?? [])).toEqual({
    'service.instance.id': expect.stringMatching(/:\d+$/),
    'service.name': 'porter-north',
    'deployment.environment.name': 'test',
  });

  // Every metric of /metrics, the last time when the service stopped.
  const sent = collector.metrics();
  const names = sent.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      'porter_http_request_seconds',
      'porter_delivery_queue',
      'porter_http_connections',
    ]),
  );
  const seconds = sent.find(({ name }) => name === 'porter_http_request_seconds').histogram.dataPoints;
  for (const { bucketCounts, count, explicitBounds } of seconds) {
    expect(bucketCounts).toHaveLength(explicitBounds.length + 1);
    expect(bucketCounts.reduce((sum: number, one: string | number) => sum + Number(one), 0)).toBe(
      Number(count),
    );
  }
  collector.close();
});

it('a secret in an address is in no trace', async () => {
  const collector = await startCollector();
  const house = await startHarness({
    env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces` },
  });
  const token = `pti_${'a1B2c3D4'.repeat(5)}xyz`;
  // As some mail programs write what stands behind the #.
  await house.send('GET', `/console/enter%23${token}`);
  await house.stop();
  const paths = collector.spans().map(({ attributes }) => valuesOf(attributes)['url.path']);
  expect(paths).toContain('/console/[redacted]');
  expect(JSON.stringify(collector.posted)).not.toContain(token);
  collector.close();
});

it('what the caller does not sample, or names in another form, is not sent on as if it had', async () => {
  const collector = await startCollector();
  const house = await startHarness({
    env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces` },
  });
  const { key, groupId: group } = await makeWorld(house);
  const call = (traceparent: string) =>
    house.send('GET', '/v1/practice-groups', { key, group, headers: { traceparent } });
  await call(`00-${TRACE}-${CALLER}-00`);
  await call(`00-${'0'.repeat(32)}-${CALLER}-01`);
  await house.stop();
  expect(collector.spans().filter(({ traceId }) => traceId === TRACE)).toEqual([]);
  expect(collector.spans().some(({ name }) => name === 'GET listPracticeGroups')).toBe(true);
  // Nobody asked for metrics.
  expect(collector.metrics()).toEqual([]);
  collector.close();
});

it('a collector that is away keeps nobody from working or stopping, and without one nothing is told', async () => {
  const away = await startHarness({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' } });
  const world = await makeWorld(away);
  const { status } = await away.send('GET', '/v1/practice-groups', { key: world.key, group: world.groupId });
  expect(status).toBe(200);
  await away.stop();

  const house = await startHarness();
  const { key, groupId: group } = await makeWorld(house);
  const receiver = await startReceiver();
  await house.send('POST', '/v1/webhooks', { key, group, body: { url: receiver.url } });
  await house.send('POST', '/v1/test-events', {
    key,
    group,
    headers: { traceparent: `00-${TRACE}-${CALLER}-01` },
    body: { event: 'appointment.confirmed' },
  });
  await expect.poll(() => receiver.received.length).toBe(1);
  expect(receiver.received[0]?.headers.traceparent).toBeUndefined();
});
