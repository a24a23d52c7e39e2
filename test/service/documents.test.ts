import { expect, it } from 'vitest';
import { startHarness } from '../support/service.ts';

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
    servers: [{ url: 'https://api.example.org' }, { url: 'https://staging.example.org' }],
  });
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
