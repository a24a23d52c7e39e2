import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook as Verifier } from 'standardwebhooks';

/** A receiver that believes nothing: it verifies every delivery as a partner would, and remembers what it was told. */

export interface Endpoint {
  url: string;
  /** To be set as soon as it is known; no delivery is accepted before. */
  secret: string | undefined;
  /** What it answered with 200, by body, in the order of their first arrival. */
  received: Map<string, { id: string; sequence: number; copies: number }>;
}

/** Answers take a moment, so that there is always something under way when a fault strikes. */
const THINKS_MS_MAX = 25;

export class PostReceiver {
  readonly #server = createServer((request, response) => void this.#take(request, response));
  readonly #open = new Set<Socket>();
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #roll: (below: number) => number;
  readonly #refusesOneIn: number;
  readonly #refused = new Set<string>();
  /** What no receiver may ever see. */
  readonly faults: string[] = [];
  received = 0;
  refusals = 0;

  private constructor(roll: (below: number) => number, refusesOneIn: number) {
    this.#roll = roll;
    this.#refusesOneIn = refusesOneIn;
    this.#server.keepAliveTimeout = 60_000;
    this.#server.on('connection', (socket: Socket) => {
      this.#open.add(socket.on('error', () => {}));
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  /** One in so many deliveries is refused, once each, so that some are always waiting for a retry; 0: none is. */
  static async start(roll: (below: number) => number, refusesOneIn = 0): Promise<PostReceiver> {
    const receiver = new PostReceiver(roll, refusesOneIn);
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  addEndpoint(): Endpoint {
    const path = `/${this.#endpoints.size}`;
    const { port } = this.#server.address() as AddressInfo;
    const endpoint = { url: `http://127.0.0.1:${port}${path}`, secret: undefined, received: new Map() };
    this.#endpoints.set(path, endpoint);
    return endpoint;
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
    await once(this.#server, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks = await request.toArray().catch(() => undefined);
    // The sender died before it had said everything.
    if (!chunks) return;
    const status = this.#accept(request, Buffer.concat(chunks).toString('utf8'));
    await pause(this.#roll(THINKS_MS_MAX));
    response.writeHead(status).end();
  }

  #accept({ url = '', headers }: IncomingMessage, body: string): number {
    const endpoint = this.#endpoints.get(url);
    if (!endpoint?.secret) return this.#fault(`a delivery to ${url}`);
    try {
      new Verifier(endpoint.secret).verify(body, headers as Record<string, string>);
    } catch (error) {
      return this.#fault(`${url}: ${(error as Error).message}: ${body}`);
    }
    const id = String(headers['webhook-id']);
    if (this.#refusesOneIn > 0 && !this.#refused.has(id) && this.#roll(this.#refusesOneIn) === 0) {
      this.#refused.add(id);
      this.refusals++;
      return 500;
    }
    const sequence = Number(headers['webhook-sequence']);
    const known = endpoint.received.get(body);
    if (!known) endpoint.received.set(body, { id, sequence, copies: 1 });
    else if (known.id === id && known.sequence === sequence) known.copies++;
    else
      this.#fault(`${url}: one event as ${known.id} (${known.sequence}) and as ${id} (${sequence}): ${body}`);
    this.received++;
    return 200;
  }

  #fault(what: string): number {
    this.faults.push(what);
    return 400;
  }
}
