import { connect, type Socket } from 'node:net';

/** HTTP by hand: what a well-behaved client would refuse to send, and one answer read byte by byte. */

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** Nobody needs this long; whoever takes longer hangs. */
const HUNG_AFTER_MS = 60_000;

export class RawConnection {
  readonly #port: number;
  #socket: Socket | undefined;
  #received = Buffer.alloc(0);
  #ended = false;
  #wake: () => void = () => {};

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
  }

  /** Sends the bytes and reads one answer. `bodiless`: the answer to HEAD, which only tells of a body. */
  async exchange(bytes: Buffer | string, { bodiless = false } = {}): Promise<RawAnswer> {
    await this.write(bytes);
    return this.read({ bodiless });
  }

  async write(bytes: Buffer | string): Promise<void> {
    if (!this.#socket || this.#ended) await this.#open();
    this.#socket?.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Every whole answer until the server closes. */
  async readAll(): Promise<RawAnswer[]> {
    const answers: RawAnswer[] = [];
    await this.closed();
    for (;;) {
      const parsed = parseAnswer(this.#received, true, false);
      if (!parsed) break;
      this.#received = this.#received.subarray(parsed.length);
      if (parsed.answer.status >= 200) answers.push(parsed.answer);
    }
    if (this.#received.length > 0) throw new Error(`half an answer: ${this.#received.toString('latin1')}`);
    return answers;
  }

  async read({ bodiless = false } = {}): Promise<RawAnswer> {
    const deadline = AbortSignal.timeout(HUNG_AFTER_MS);
    for (;;) {
      const parsed = parseAnswer(this.#received, this.#ended, bodiless);
      if (parsed) {
        this.#received = this.#received.subarray(parsed.length);
        if (parsed.answer.status < 200) continue;
        if (parsed.answer.headers.connection === 'close' || goesOn(parsed.answer)) this.close();
        return parsed.answer;
      }
      if (this.#ended) throw new Error(`closed after ${JSON.stringify(this.#received.toString('latin1'))}`);
      await this.#more(deadline);
    }
  }

  /** Waits until the server has said this much, such as `100 Continue`, and forgets it. */
  async hear(text: string): Promise<void> {
    const deadline = AbortSignal.timeout(HUNG_AFTER_MS);
    while (!this.#received.includes(text)) {
      if (this.#ended) throw new Error(`closed before ${text}`);
      await this.#more(deadline);
    }
    this.#received = this.#received.subarray(this.#received.indexOf(text) + text.length);
  }

  /** Waits until the server closes the connection. */
  async closed(): Promise<void> {
    const deadline = AbortSignal.timeout(HUNG_AFTER_MS);
    while (!this.#ended) await this.#more(deadline);
  }

  get isSilent(): boolean {
    return this.#received.length === 0 && !this.#ended;
  }

  /** Says that no more will come; the other half stays open for answers. */
  end(): void {
    this.#socket?.end();
  }

  close(): void {
    this.#socket?.destroy();
    this.#ended = true;
  }

  async #open(): Promise<void> {
    this.#received = Buffer.alloc(0);
    this.#ended = false;
    const socket = connect(this.#port, '127.0.0.1');
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    const over = () => {
      if (this.#socket !== socket) return;
      this.#ended = true;
      this.#wake();
    };
    socket.on('end', over).on('close', over).on('error', over);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
  }

  async #more(deadline: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const hung = () => reject(new Error('no answer: it hangs'));
      if (deadline.aborted) return hung();
      deadline.addEventListener('abort', hung, { once: true });
      this.#wake = () => {
        deadline.removeEventListener('abort', hung);
        resolve();
      };
    });
  }
}

/** A stream has no end: its head is all that is looked at. */
function goesOn({ headers }: Pick<RawAnswer, 'headers'>): boolean {
  return headers['content-type']?.startsWith('text/event-stream') ?? false;
}

function parseAnswer(
  bytes: Buffer,
  ended: boolean,
  bodiless: boolean,
): { answer: RawAnswer; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (!status) throw new Error(`not an HTTP answer: ${statusLine}`);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const rest = bytes.subarray(headEnd + 4);
  const whole = (body: Buffer, used: number) => ({
    answer: { status, headers, body },
    length: headEnd + 4 + used,
  });

  if (goesOn({ headers })) return whole(Buffer.alloc(0), rest.length);
  if (bodiless || status < 200 || status === 204 || status === 304) return whole(Buffer.alloc(0), 0);
  if (headers['transfer-encoding'] === 'chunked') {
    const decoded = dechunk(rest);
    return decoded && whole(decoded.body, decoded.used);
  }
  if (headers['content-length'] !== undefined) {
    const length = Number(headers['content-length']);
    return rest.length < length ? undefined : whole(rest.subarray(0, length), length);
  }
  return ended ? whole(rest, rest.length) : undefined;
}

function dechunk(bytes: Buffer): { body: Buffer; used: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (bytes.length < next) return undefined;
    if (size === 0) return { body: Buffer.concat(chunks), used: next };
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
  }
}
