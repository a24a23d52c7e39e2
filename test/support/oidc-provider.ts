import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';
import { request } from 'undici';
import { afterwards } from './afterwards.ts';

/** A real provider of OpenID Connect in this process, and a browser that walks through it. */
export interface OidcProvider {
  issuer: string;
  /** What it says of whom, by the name with which they sign in there. */
  people: Map<string, Record<string, unknown>>;
  /** Until then it answers 503 to everything. */
  serve(redirectUri: string, more?: Configuration): void;
  stopServing(): void;
  /** Answers in place of the provider, if set and not undefined: for what an impostor or a misconfigured provider answers. */
  instead: ((path: string, answer: Record<string, unknown>) => unknown) | undefined;
  /** The one path that it answers with 503. */
  failing: string | undefined;
}

export const CLIENT = { client_id: 'porter', client_secret: 'a-secret-of-the-client-porter-1234567' };

export const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
export const providerKey = newKey();

/** A JWT of this header and these claims; without a key, its signature is empty. */
export function jwtOf(header: object, claims: object, key?: KeyObject): string {
  const content = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${content}.${key ? sign('sha256', Buffer.from(content), key).toString('base64url') : ''}`;
}

export const partOf = (jwt: unknown, index: 0 | 1) =>
  JSON.parse(Buffer.from(String(jwt).split('.')[index] ?? '', 'base64url').toString());

export async function startProvider(): Promise<OidcProvider> {
  let handler: RequestListener | undefined;
  const server = createServer((incoming, response) => {
    if (handler && incoming.url !== provider.failing) {
      if (provider.instead) replaceAnswer(response, incoming.url ?? '', provider.instead);
      handler(incoming, response);
    } else response.writeHead(503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterwards(async () => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people: OidcProvider['people'] = new Map();
  const provider: OidcProvider = {
    issuer,
    people,
    instead: undefined,
    failing: undefined,
    serve(redirectUri, more = {}) {
      const real = new Provider(issuer, {
        clients: [{ ...CLIENT, redirect_uris: [redirectUri] }],
        jwks: { keys: [providerKey.export({ format: 'jwk' }) as never] },
        cookies: { keys: ['for tests'] },
        pkce: { required: () => true },
        claims: { openid: ['sub'], profile: ['name', 'groups', 'realm_access'] },
        findAccount: (_context, id) => ({
          accountId: id,
          claims: async () => ({ sub: id, ...people.get(id) }),
        }),
        async loadExistingGrant(context) {
          const { client, session, provider: self } = context.oidc;
          const grant = new self.Grant({
            clientId: client?.clientId ?? '',
            accountId: session?.accountId ?? '',
          });
          grant.addOIDCScope('openid profile email');
          await grant.save();
          return grant;
        },
        ...more,
      });
      handler = real.callback();
    },
    stopServing() {
      handler = undefined;
    },
  };
  return provider;
}

function replaceAnswer(
  response: ServerResponse,
  url: string,
  instead: NonNullable<OidcProvider['instead']>,
): void {
  const end = response.end.bind(response) as (body?: unknown) => ServerResponse;
  response.end = ((body?: unknown) => {
    const isJson = /^application\/(jwk-set\+)?json/.test(String(response.getHeader('content-type')));
    const other = isJson ? instead(url, JSON.parse(String(body))) : undefined;
    if (other === undefined) return end(body);
    const text = JSON.stringify(other);
    response.setHeader('content-length', Buffer.byteLength(text));
    return end(text);
  }) as typeof response.end;
}

export interface Shown {
  status: number;
  /** Where the walk ended. */
  url: string;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Follows redirects and keeps cookies, for each origin apart. */
export class Walker {
  readonly #jars = new Map<string, Map<string, string>>();

  cookiesOf(url: string): string {
    const jar = this.#jars.get(new URL(url).origin) ?? new Map();
    return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async step(url: string, form?: Record<string, string>): Promise<Shown> {
    const answer = await request(url, {
      method: form ? 'POST' : 'GET',
      headers: {
        cookie: this.cookiesOf(url),
        'sec-fetch-site': 'cross-site',
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      body: form ? new URLSearchParams(form).toString() : null,
    });
    const { origin } = new URL(url);
    const jar = this.#jars.get(origin) ?? new Map<string, string>();
    this.#jars.set(origin, jar);
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0\b/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return { status: answer.statusCode, url, headers: answer.headers, text: await answer.body.text() };
  }

  /** Goes on while it is sent on, and signs in at the provider as this person; ends where `until` says, or where nothing leads on. */
  async walk(start: string, person: string, until: (url: string) => boolean = () => false): Promise<Shown> {
    let shown = await this.step(start);
    for (let steps = 0; steps < 20; steps++) {
      const { location } = shown.headers;
      if (typeof location === 'string') {
        const next = new URL(location, shown.url).href;
        if (until(next)) return { ...shown, url: next };
        shown = await this.step(next);
      } else if (shown.url.includes('/interaction/')) {
        shown = await this.step(shown.url, { prompt: 'login', login: person, password: 'any' });
      } else return shown;
    }
    throw new Error(`it goes on and on, at last at ${shown.url}`);
  }
}
