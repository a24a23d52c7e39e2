import { expect } from 'vitest';
import type { Answer } from './service.ts';

/** Fails unless the answer is this refusal, with exactly the decided fields and no others. */
export function expectProblem(
  answer: Answer,
  status: number,
  code: string,
  more: Record<string, unknown> = {},
): void {
  expect(answer.body).toEqual({
    error: code,
    statusCode: status,
    message: expect.stringMatching(/\S/),
    request_id: answer.headers['x-request-id'],
    doc_url: expect.stringMatching(new RegExp(`^https?://.+/docs/errors/${code}$`)),
    ...more,
  });
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
}

/**
 * Asks again for as long as the service is too busy to do it: many that come at once to a slow machine wait for each other, and the last of
 * them for longer than the service lets anybody wait. A 503 has changed nothing.
 */
export async function insist(send: () => Promise<Answer>): Promise<Answer> {
  const answer = await send();
  return answer.status === 503 ? insist(send) : answer;
}

type Path = (string | number)[];

/** Fails unless the answer is the specified 400 with exactly these problems, in any order, one entry each. */
export function expectInvalid(
  answer: Answer,
  problems: { code?: string; expected?: string; path: Path; message?: string }[],
): void {
  expect(answer.status, answer.text.slice(0, 300)).toBe(400);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(Object.keys(answer.body).sort()).toEqual(['error', 'message', 'statusCode']);
  expect(answer.body).toMatchObject({ error: true, statusCode: 400 });
  for (const entry of answer.body.message) {
    expect(entry).toEqual({
      code: expect.stringMatching(/\S/),
      expected: expect.stringMatching(/\S/),
      path: expect.any(Array),
      message: expect.stringMatching(/\S/),
    });
  }
  const byPath = (a: { path: Path }, b: { path: Path }) => String(a.path).localeCompare(String(b.path));
  const found = [...answer.body.message].sort(byPath);
  expect(found, answer.text.slice(0, 300)).toHaveLength(problems.length);
  expect(found).toMatchObject([...problems].sort(byPath));
}

/** The whole answer without what differs from call to call, so that two refusals can be held side by side. */
export function withoutRequestId(answer: Answer): unknown {
  const { 'x-request-id': id, date: _date, ratelimit: _remaining, ...headers } = answer.headers;
  return { status: answer.status, headers, text: answer.text.replaceAll(String(id), '(request id)') };
}
