import { receiver, type WebhookHandlerOptions } from './receive.ts';

export type { WebhookHandlerOptions } from './receive.ts';

/** The part of Fastify that is used, so that its types are not needed. */
export interface FastifyScope {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    contentType: string,
    options: { parseAs: 'buffer' },
    parser: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): unknown;
  post(
    path: string,
    handler: (
      request: { headers: { [name: string]: string | string[] | undefined }; body: unknown },
      reply: FastifyReply,
    ) => Promise<unknown>,
  ): unknown;
}

export interface FastifyReply {
  code(status: number): FastifyReply;
  type(contentType: string): FastifyReply;
  send(body: string): FastifyReply;
}

export interface FastifyWebhookOptions extends WebhookHandlerOptions {
  /** Where deliveries are posted to; `/` unless given, below the prefix of `register`. */
  path?: string | undefined;
}

/**
 * `await app.register(webhookPlugin, { path: '/hooks', secret, onEvent })`. Bodies stay bytes inside this plugin and are
 * parsed as ever everywhere else.
 */
export async function webhookPlugin(app: FastifyScope, options: FastifyWebhookOptions): Promise<void> {
  const receive = receiver(options);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.post(options.path ?? '/', async ({ headers, body }, reply) => {
    const answer = await receive(headers, ArrayBuffer.isView(body) ? body : '');
    return reply.code(answer.status).type('text/plain').send(answer.body);
  });
}
