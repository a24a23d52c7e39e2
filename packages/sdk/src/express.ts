import { receiver, type WebhookHandlerOptions } from './receive.ts';

export type { WebhookHandlerOptions } from './receive.ts';

/** The part of Express that is used, so that its types are not needed. */
export interface ExpressRequest extends AsyncIterable<Uint8Array> {
  headers: { [name: string]: string | string[] | undefined };
  body?: unknown;
  readableDidRead: boolean;
}

export interface ExpressResponse {
  status(code: number): { type(type: string): { send(body: string): unknown } };
}

/** `app.post('/hooks', webhookHandler({ secret, onEvent }))`, above `app.use(express.json())`. */
export function webhookHandler(
  options: WebhookHandlerOptions,
): (request: ExpressRequest, response: ExpressResponse, next: (error: unknown) => void) => Promise<void> {
  const receive = receiver(options);
  return async (request, response, next) => {
    try {
      const { status, body } = await receive(request.headers, rawBody(request));
      response.status(status).type('text/plain').send(body);
    } catch (error) {
      next(error);
    }
  };
}

function rawBody(request: ExpressRequest): string | ArrayBufferView | AsyncIterable<Uint8Array> {
  const { body } = request;
  if (typeof body === 'string' || ArrayBuffer.isView(body)) return body;
  if (!request.readableDidRead) return request;
  throw new Error(
    'The body was parsed before the webhook was verified, and its bytes are gone. ' +
      'Put the route of webhookHandler above app.use(express.json()), or exclude its path from that.',
  );
}
