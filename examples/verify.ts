import { createServer, type IncomingMessage } from 'node:http';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

const { WEBHOOK_SECRET } = process.env;
if (!WEBHOOK_SECRET) {
  console.error('Set WEBHOOK_SECRET to the secret of the webhook.');
  process.exit(1);
}
const webhook = new Webhook(WEBHOOK_SECRET);
const handled = new Set<string>(); // in earnest: a table, written together with what you do

const server = createServer(async (request, response) => {
  try {
    const rawBody = await bodyOf(request);
    const event = webhook.verify(rawBody, request.headers as Record<string, string>) as Record<
      string,
      string
    >;
    const deliveryId = String(request.headers['webhook-id']);
    if (!handled.has(deliveryId)) console.log(`verified ${event.event} ${event.object} ${event.id}`);
    handled.add(deliveryId);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(error instanceof WebhookVerificationError ? 401 : 400).end();
  }
});
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log('listening'));

/** As it arrived, so not parsed yet. Anybody can post here: what is far too long is not read to its end. */
async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > 1_048_576) throw new Error('too long for an event');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
