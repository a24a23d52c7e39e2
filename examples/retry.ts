import { setTimeout as wait } from 'node:timers/promises';

const {
  PORTER_URL = 'http://127.0.0.1:8080',
  PORTER_KEY = '',
  PORTER_GROUP = 'riverside-surgery',
} = process.env;
if (!PORTER_KEY) {
  console.error('Set PORTER_KEY to your API key. That of the demo world is in .porter/demo-key.');
  process.exit(1);
}
const ATTEMPTS = 5;

/** For calls that may be repeated: every GET, PATCH and DELETE. */
async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { 'x-api-key': PORTER_KEY, 'x-practice-group-id': PORTER_GROUP, ...init.headers };
  for (let attempt = 1; ; attempt++) {
    const last = attempt === ATTEMPTS;
    const answer = await fetch(PORTER_URL + path, { ...init, headers }).catch((error: unknown) => {
      if (last) throw error;
    });
    if (answer && (last || (answer.status !== 429 && answer.status < 500))) return answer;
    const asked = Number(answer?.headers.get('retry-after') ?? 0);
    const backoff = 2 ** attempt * (0.25 + Math.random() / 4); // a random part, so that not all come back together
    await wait(1000 * Math.max(asked, backoff));
  }
}

const answer = await call('/v1/practice-groups');
console.log(answer.status, answer.headers.get('x-request-id'));
