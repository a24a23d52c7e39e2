import { createServer } from 'node:http';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? '');
const handled = new Set<string>(); // in earnest: a table, written together with what you do

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks).toString();
  try {
    const event = webhook.verify(rawBody, request.headers as Record<string, string>) as Record<
      string,
      string
    >;
    const deliveryId = String(request.headers['webhook-id']);
    if (!handled.has(deliveryId)) console.log(`verified ${event.event} ${event.object} ${event.id}`);
    handled.add(deliveryId);
    response.writeHead(204).end();
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    response.writeHead(401).end();
  }
});
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log('listening'));
