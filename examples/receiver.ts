// Receives the events of a practice group: registers itself as a webhook, verifies what comes, prints it.
// Stop it with Ctrl-C, and it removes its webhook.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { Webhook } from 'standardwebhooks';

const { PORTER_KEY, PORTER_GROUP = 'riverside-surgery', PORT = '3000' } = process.env;
const dataDir = process.env.PORTER_DATA_DIR || '.porter';
const key =
  PORTER_KEY ??
  demo('demo-key') ??
  stop(`There is no ${dataDir}/demo-key. Run \`npm start\` in this folder first, or set PORTER_KEY.`);
const PORTER_URL =
  process.env.PORTER_URL ?? (PORTER_KEY ? undefined : demo('url')) ?? 'http://127.0.0.1:8080';
const url = `http://127.0.0.1:${PORT}/hooks`;
const handled = new Set<string>(); // in earnest: a table, written together with what you do
let verifier: Webhook | undefined;

const server = createServer(async (request, response) => {
  try {
    if (!verifier) throw new Error('not registered yet');
    const rawBody = await bodyOf(request);
    const event = verifier.verify(rawBody, request.headers as Record<string, string>) as Record<
      string,
      string
    >;
    response.writeHead(204).end(); // answer first, work afterwards
    const deliveryId = String(request.headers['webhook-id']);
    if (!handled.has(deliveryId)) console.log(`verified ${event.event} ${event.object} ${event.id}`);
    handled.add(deliveryId);
  } catch {
    response.writeHead(401).end();
  }
});
server.on('error', () => stop(`Port ${PORT} is taken. Set PORT to another one.`));
server.listen(Number(PORT), '127.0.0.1', async () => {
  const { data } = await porter('GET', '/v1/webhooks');
  for (const old of data) if (old.url === url) await porter('DELETE', `/v1/webhooks/${old.id}`);
  const { id, secret } = await porter('POST', '/v1/webhooks', { url });
  verifier = new Webhook(secret);
  console.log(`registered ${id} for ${PORTER_GROUP}, listening on ${url}`);
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, async () => {
      await porter('DELETE', `/v1/webhooks/${id}`);
      stop(`removed ${id}`, 0);
    });
  }
});

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

async function porter(method: string, path: string, body?: object) {
  const headers = {
    'x-api-key': key,
    'x-practice-group-id': PORTER_GROUP,
    'content-type': 'application/json',
  };
  const answer = await fetch(PORTER_URL + path, {
    method,
    headers,
    body: body ? JSON.stringify(body) : null,
  }).catch(() => stop(`Nothing answers at ${PORTER_URL}. Run \`npm start\` first, or set PORTER_URL.`));
  if (!answer.ok) stop(`${method} ${path} was refused: ${await answer.text()}`);
  return answer.status === 204 ? undefined : JSON.parse(await answer.text());
}

/** What a service that was started in this folder says of its demo world. */
function demo(name: string): string | undefined {
  try {
    return readFileSync(`${dataDir}/${name}`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

function stop(why: string, code = 1): never {
  console.log(why);
  process.exit(code);
}
