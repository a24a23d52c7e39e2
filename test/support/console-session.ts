import { type Answer, type Harness, OPERATOR_TOKEN, type Send } from './service.ts';

/** A browser that is signed in to the console, as far as the service can tell: it keeps the cookie that it was given last. */
export interface Visitor {
  cookie: string;
  /** As the console calls the API. */
  send(method: string, path: string, options?: Send): Promise<Answer>;
}

/** The cookie of an answer, as it is sent back. */
export function cookieOf({ headers }: Answer): string | undefined {
  const [set] = [headers['set-cookie'] ?? []].flat();
  return set?.split(';', 1)[0];
}

export async function signIn(
  house: Pick<Harness, 'send'>,
  token = OPERATOR_TOKEN,
  headers: Record<string, string> = {},
): Promise<Visitor> {
  const answer = await house.send('POST', '/console/sign-in', { body: { token }, headers });
  const cookie = cookieOf(answer);
  if (answer.status !== 204 || cookie === undefined) throw new Error(`${answer.status} ${answer.text}`);
  return visitor(house, cookie, headers);
}

export function visitor(
  house: Pick<Harness, 'send'>,
  cookie: string,
  more: Record<string, string> = {},
): Visitor {
  const self: Visitor = {
    cookie,
    async send(method, path, { headers, ...rest } = {}) {
      const own = { cookie: self.cookie, 'x-porter-console': '1', ...more, ...headers };
      const answer = await house.send(method, path, { ...rest, headers: own });
      self.cookie = cookieOf(answer) ?? self.cookie;
      return answer;
    },
  };
  return self;
}
