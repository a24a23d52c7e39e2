import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type AttemptPhase, attempt } from '../../src/contract/attempts.ts';
import { diagnose, keptAttempt, shownAttempt } from '../../src/domain/events/diagnosis.ts';

const answered = (status: number) => ({
  status,
  answer: '',
  durationMs: 41.7,
  failure: undefined,
  isLocal: false,
});
const broken = (
  phase: AttemptPhase,
  code: string,
  detail = '',
  { status, durationMs = 15_000.4 }: { status?: number; durationMs?: number } = {},
) => ({ status, answer: '', durationMs, failure: { phase, code, detail }, isLocal: false });

describe('an answer in words', () => {
  it.each([
    [200, 'Received: 200'],
    [204, 'Received: 204'],
    [299, 'Received: 299'],
    [300, 'Answered 300: redirects are not followed; register the final address.'],
    [301, 'Answered 301: redirects are not followed; register the final address.'],
    [308, 'Answered 308: redirects are not followed; register the final address.'],
    [401, /^Answered 401: .*signature.*credentials.*secret/],
    [403, /^Answered 403: .*forbids/],
    [404, /^Answered 404: .*Check the path/],
    [405, /^Answered 405: .*POST/],
    [410, /^Answered 410: .*disabled/],
    [413, /^Answered 413: .*too large/],
    [415, /^Answered 415: .*application\/json/],
    [418, /^Answered 418: the receiver refused the event/],
    [429, /^Answered 429: .*Retry-After/],
    [500, /^Answered 500: the receiver failed/],
    [502, /^Answered 502: something before the receiver/],
    [503, /^Answered 503: .*Retry-After/],
    [504, /^Answered 504: .*Answer first/],
    [599, /^Answered 599: .*failed/],
  ])('%i', (status, words) => {
    const said = diagnose(answered(status));
    if (typeof words === 'string') expect(said).toBe(words);
    else expect(said).toMatch(words);
    const { outcome } = shownAttempt(JSON.parse(keptAttempt(answered(status), 0)));
    expect(outcome).toBe(status < 300 ? 'delivered' : 'failed');
  });
});

describe('a failure in words', () => {
  it.each([
    [
      broken('address', 'address_refused', 'a.example does not resolve to a public address.'),
      'Not called: a.example does not resolve to a public address.',
    ],
    [
      broken('dns', 'dns_not_found', 'a.example'),
      'The DNS knows no address for a.example. Check the host name.',
    ],
    [broken('dns', 'dns_timeout', 'a.example'), /^The name servers for a.example did not answer in 15 s/],
    [
      broken('dns', 'dns_failed', 'a.example: SERVFAIL'),
      /^The DNS could not be asked for a.example: SERVFAIL/,
    ],
    [broken('connect', 'connection_refused', '1.2.3.4:443'), /^1.2.3.4:443 refused the connection/],
    [broken('connect', 'connect_timeout', '1.2.3.4:443'), /^No connection to 1.2.3.4:443 in 15 s/],
    [broken('connect', 'unreachable', '1.2.3.4:443'), /^No way leads to 1.2.3.4:443/],
    [broken('connect', 'connection_reset', '1.2.3.4:443'), '1.2.3.4:443 reset the connection.'],
    [broken('connect', 'connect_failed', '1.2.3.4:443: EMFILE'), 'No connection: 1.2.3.4:443: EMFILE.'],
    [
      broken('tls', 'tls_certificate_expired', '2026-05-01'),
      'TLS certificate expired on 1 May 2026. Renew it.',
    ],
    [
      broken('tls', 'tls_certificate_expired', '2025-12-31'),
      'TLS certificate expired on 31 December 2025. Renew it.',
    ],
    [broken('tls', 'tls_certificate_expired'), 'TLS certificate has expired. Renew it.'],
    [broken('tls', 'tls_certificate_not_yet_valid'), /^TLS certificate is not valid yet/],
    [broken('tls', 'tls_self_signed'), /^TLS certificate is self-signed/],
    [
      broken('tls', 'tls_hostname_mismatch', 'a.example, but it is for b.example'),
      'TLS certificate is for another name: the address is a.example, but it is for b.example.',
    ],
    [broken('tls', 'tls_untrusted', 'unable to verify'), /not trusted \(unable to verify\).*intermediate/],
    [
      broken('tls', 'tls_timeout', '1.2.3.4:443'),
      'Connected to 1.2.3.4:443, but TLS did not come about in 15 s.',
    ],
    [broken('tls', 'tls_failed', 'wrong version number'), /^TLS failed: wrong version number/],
    [broken('send', 'send_timeout'), /^Connected, but the event was not taken in 15 s/],
    [broken('send', 'connection_reset'), /reset the connection before it had taken the event/],
    [broken('answer', 'answer_timeout'), /^Connected, but no answer in 15 s/],
    [broken('answer', 'answer_timeout', '', { durationMs: 1_549 }), /in 1.5 s/],
    [broken('answer', 'answer_timeout', '', { durationMs: 300.2 }), /in 300 ms/],
    [broken('answer', 'answer_timeout', '', { durationMs: 999.6 }), /in 1 s/],
    [
      broken('answer', 'body_timeout', '', { status: 200 }),
      /^Answered 200, but the answer did not end in 15 s/,
    ],
    [broken('answer', 'closed_early'), /closed the connection without an answer/],
    [
      broken('answer', 'closed_early', '', { status: 200 }),
      /^Answered 200, but .* before the answer was whole/,
    ],
    [broken('answer', 'connection_reset'), /reset the connection without an answer/],
    [broken('answer', 'invalid_http', 'Expected HTTP/'), 'The answer is not valid HTTP: Expected HTTP/.'],
    [broken('send', 'stopped'), /^Broken off because the service stopped/],
    [broken('send', 'something_new', 'why'), 'Failed (something_new): why.'],
  ])('$failure.code', (outcome, words) => {
    const said = diagnose(outcome);
    if (typeof words === 'string') expect(said).toBe(words);
    else expect(said).toMatch(words);
  });

  it('there are words for every code that the way out knows', () => {
    const folder = new URL('../../src/platform/egress/', import.meta.url);
    const source = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
    const named = source
      .join('\n')
      .matchAll(/'((?:address|dns|connection|connect|tls|send|answer|body|closed|invalid)_[a-z_]+)'/g);
    const timeouts = ['dns', 'connect', 'tls', 'send', 'answer', 'body'].map((phase) => `${phase}_timeout`);
    const codes = new Set([
      ...[...named].map(([, code = '']) => code),
      ...timeouts,
      'unreachable',
      'stopped',
    ]);
    expect(codes.size).toBeGreaterThan(20);
    const wordless = [...codes].filter((code) => diagnose(broken('answer', code)).startsWith('Failed ('));
    expect(wordless).toEqual([]);
  });
});

describe('an attempt', () => {
  const at = Date.UTC(2026, 10, 14, 8);
  /** As it is shown, after it was kept. */
  const attemptOf = (outcome: Parameters<typeof keptAttempt>[0], atMs: number) =>
    shownAttempt(JSON.parse(keptAttempt(outcome, atMs)));

  it('that was received', () => {
    const kept = attemptOf({ ...answered(204), answer: '' }, at);
    expect(kept).toEqual({
      at: '2026-11-14T08:00:00.000Z',
      outcome: 'delivered',
      status: 204,
      phase: null,
      code: null,
      diagnosis: 'Received: 204',
      duration_ms: 42,
      answer: null,
    });
    expect(attempt.parse(kept)).toEqual(kept);
  });

  it('that was received without a word is kept in few bytes, one with an answer whole', () => {
    expect(JSON.parse(keptAttempt({ ...answered(204), answer: '' }, at))).toEqual({
      at: '2026-11-14T08:00:00.000Z',
      status: 204,
      duration_ms: 42,
    });
    const spoken = attemptOf({ ...answered(200), answer: 'thank "you"' }, at);
    expect(spoken).toMatchObject({ outcome: 'delivered', answer: 'thank "you"' });
    expect(shownAttempt(spoken)).toEqual(spoken);
  });

  it('that was answered, but not received', () => {
    expect(attemptOf({ ...answered(500), answer: 'no' }, at)).toMatchObject({
      outcome: 'failed',
      status: 500,
      phase: null,
      code: null,
      answer: 'no',
    });
    expect(attemptOf(answered(302), at)).toMatchObject({ outcome: 'failed', status: 302 });
  });

  it('that broke off, even after a good status', () => {
    expect(attemptOf(broken('answer', 'body_timeout', '', { status: 200 }), at)).toMatchObject({
      outcome: 'failed',
      status: 200,
      phase: 'answer',
      code: 'body_timeout',
      duration_ms: 15_000,
    });
    expect(attemptOf(broken('dns', 'dns_not_found', 'a.example'), at)).toMatchObject({
      outcome: 'failed',
      status: null,
      phase: 'dns',
    });
  });
});
