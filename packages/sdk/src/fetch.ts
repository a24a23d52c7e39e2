import { receiver, type WebhookHandlerOptions } from './receive.ts';

export type { WebhookHandlerOptions } from './receive.ts';

/** For everything that takes a `Request` and gives a `Response`: Workers, Deno, Bun, Next.js, Hono. */
export function webhookHandler(options: WebhookHandlerOptions): (request: Request) => Promise<Response> {
  const receive = receiver(options);
  return async (request) => {
    if (request.bodyUsed)
      throw new Error('The body was read before the webhook was verified. Hand over the Request untouched.');
    const { status, body } = await receive(request.headers, request.body ?? '');
    return new Response(body || null, { status });
  };
}
