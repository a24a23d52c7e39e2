import { expect, it } from 'vitest';
import { startHarness } from '../../support/service.ts';

const house = await startHarness({
  env: {
    PORTER_BASE_URL: 'https://api.example.org',
    PORTER_STAGING_BASE_URL: 'https://staging.example.org',
    PORTER_WEBHOOKS_URL: 'https://hooks.example.org',
    PORTER_STAGING_WEBHOOKS_URL: 'https://staging.example.org/hooks',
  },
});

it('serves the OpenAPI document to anybody, with the configured addresses', async () => {
  const { status, headers, body } = await house.send('GET', '/docs/openapi.json');
  expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  expect(body).toMatchObject({
    openapi: '3.1.1',
    // The address of this deployment first.
    servers: [{ url: 'https://staging.example.org' }, { url: 'https://api.example.org' }],
  });
});

it('names the address at which it listens first, if none is configured for its environment', async () => {
  const other = await startHarness();
  const { body } = await other.send('GET', '/docs/openapi.json');
  expect(body.servers.map(({ url }: { url: string }) => url)).toEqual([
    other.url,
    'https://api.porter.example',
    'https://staging.api.porter.example',
  ]);
  const { examples } = body.components.responses.NotFound.content['application/json'];
  expect(examples.not_found.value.doc_url).toBe(`${other.url}/docs/errors/not_found`);
  const operator = await other.send('GET', '/docs/operator.openapi.json');
  expect(operator.body.servers[0].url).toBe(other.url);
});

it('serves both documents without their extensions, too', async () => {
  const openapi = await house.send('GET', '/docs/specified/openapi.json');
  expect(openapi.status).toBe(200);
  expect(Object.keys(openapi.body.paths)).toEqual([
    '/v1/practice-groups',
    '/v1/care-nav/submission-types/{id}',
  ]);
  const asyncapi = await house.send('GET', '/docs/specified/asyncapi.json');
  expect(asyncapi.status).toBe(200);
  expect(asyncapi.text).not.toContain('webhook-sequence');
});

it('serves the AsyncAPI document to anybody, with the configured webhook servers', async () => {
  const { status, headers, body } = await house.send('GET', '/docs/asyncapi.json');
  expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  expect(body).toMatchObject({
    asyncapi: '3.0.0',
    servers: {
      production: { host: 'hooks.example.org', protocol: 'https' },
      staging: { host: 'staging.example.org', pathname: '/hooks', protocol: 'https' },
    },
  });
});
