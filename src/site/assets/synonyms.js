/**
 * What people call things elsewhere, and what they are called here. Each is a way of saying the same: whoever looks for one finds the other.
 *
 * @type {Record<string, string[]>}
 */
export const synonyms = {
  allowlist: ['allow', 'addresses'],
  allow: ['addresses', 'firewall'],
  backoff: ['repeat', 'retries'],
  callback: ['webhook'],
  cli: ['command line'],
  dedupe: ['once', 'Idempotency-Key'],
  duplicate: ['once', 'twice', 'Idempotency-Key'],
  hmac: ['signature'],
  ip: ['address', 'addresses'],
  organisation: ['practice group'],
  paginate: ['pages', 'cursor'],
  pagination: ['pages', 'cursor'],
  paging: ['pages', 'cursor'],
  ping: ['test event'],
  polling: ['feed', 'cursor'],
  postman: ['OpenAPI'],
  quota: ['rate limits'],
  resend: ['replay'],
  sandbox: ['environments', 'staging'],
  schedule: ['attempts'],
  sdk: ['client library'],
  sse: ['stream'],
  swagger: ['OpenAPI'],
  tenant: ['practice group'],
  throttling: ['rate limits'],
  uptime: ['SLA'],
  websocket: ['stream'],
  whitelist: ['allow', 'addresses'],
};
