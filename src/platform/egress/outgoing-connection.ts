import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { Dialling, type DialOptions, type Peer } from './dial.ts';
import { CallFailed, failed } from './outcome.ts';

/** Most receivers close after 5 s (Node) to 75 s (nginx) of silence; to be earlier saves a second try. */
const IDLE_MS = 4_000;
/** A receiver that says how long it waits is believed up to here. */
const IDLE_MS_MAX = 15_000;
/** After this a connection is not used again, so that a receiver which moves, or changes its certificate, is noticed. */
const AGE_MS_MAX = 300_000;
const HEADER_BYTES_MAX = 16 * 1024;
/** `100 Continue`s that are passed over before an answer. */
const CONTINUES_MAX = 16;
/** Far more than the interim answers, the headers and the text that are read, in the smallest of chunks, can take. */
const BYTES_MAX = 1024 * 1024;

/** A request, and whoever hears what becomes of it. */
export interface PendingRequest extends Dispatcher.DispatchHandler {
  readonly request: Dispatcher.DispatchOptions;
  /** Whether no answer has begun, so that the next bytes can only be the beginning of one. */
  readonly isAwaiting: boolean;
}

/** A connection to one origin, or the attempt to get one. It has one request under way at a time. */
export class OutgoingConnection {
  /** Set while a connection is being made. */
  dialling: Dialling | undefined;
  #dialled: Dialling | undefined;
  /** Whether this connection has carried a request before: then it may have been cut since, and nobody noticed. */
  isWorn = false;
  /** Whether the request is too large to have gone out at once, and has not gone out yet. */
  isSending = false;
  #isLocal = false;
  readonly #client: Client;
  #socket: Socket | undefined;
  #openedAt = 0;
  #pending: PendingRequest | undefined;
  #continues = 0;
  #bytes = 0;

  /** `lost`: the connection is gone while nobody used it. */
  constructor(origin: string, peer: Peer, options: DialOptions, lost: () => void) {
    this.#client = new Client(origin, {
      connect: (_options, opened) => {
        this.dialling = new Dialling(peer, options, (failure, socket, isLocal) => {
          this.#dialled = this.dialling;
          this.dialling = undefined;
          this.#isLocal = isLocal;
          if (socket) opened(null, this.#use(socket));
          else if (failure) opened(new CallFailed(failure), null);
        });
      },
      allowH2: false,
      // The deadline of the request covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS_MAX,
      maxHeaderSize: HEADER_BYTES_MAX,
    });
    this.#client.on('disconnect', () => {
      if (!this.#pending) lost();
    });
  }

  /** Whether it leads, or would have led, to an address that is not public. */
  get isLocal(): boolean {
    return this.dialling?.isLocal ?? this.#isLocal;
  }

  get isUsable(): boolean {
    return this.#socket?.destroyed === false && performance.now() - this.#openedAt < AGE_MS_MAX;
  }

  send(pending: PendingRequest): void {
    this.#pending = pending;
    this.#continues = 0;
    this.#bytes = 0;
    this.isSending = false;
    this.#client.dispatch(pending.request, pending);
  }

  /** Everything was handed to the socket, which may still hold it back. */
  noteSent(): void {
    if (!this.#socket?.writableNeedDrain) return;
    this.isSending = true;
    this.#socket.once('drain', () => {
      this.isSending = false;
    });
  }

  release(): void {
    this.#pending = undefined;
    this.isWorn = true;
  }

  /** Nothing more of its request leaves. */
  reset(): void {
    this.#dialled?.reset();
  }

  async destroy(): Promise<void> {
    this.dialling?.cancel();
    this.dialling = undefined;
    await this.#client.destroy();
  }

  #use(socket: Socket): Socket {
    this.#socket = socket;
    this.#openedAt = performance.now();
    this.isWorn = false;
    this.#bound(socket);
    this.#passOverContinue(socket);
    return socket;
  }

  /**
   * undici bounds headers, and the request the text. What is neither has no end for them: the reason after the status, a
   * chunk's extensions and its leading zeros, line breaks before the answer. One receiver could keep the whole process
   * busy with it until the deadline.
   */
  #bound(socket: Socket): void {
    const read = socket.read;
    socket.read = (size) => {
      const chunk: Buffer | null = read.call(socket, size);
      this.#bytes += chunk?.length ?? 0;
      if (this.#bytes <= BYTES_MAX) return chunk;
      socket.destroy(new CallFailed(failed('answer', 'invalid_http', 'it has no end')));
      return null;
    };
  }

  /**
   * Some receivers say `100 Continue` to every POST. HTTP tells clients to bear with that; undici closes the
   * connection. So it is taken out of what undici reads.
   */
  #passOverContinue(socket: Socket): void {
    const read = socket.read;
    socket.read = (size) => {
      let chunk: Buffer | null = read.call(socket, size);
      while (chunk && this.#pending?.isAwaiting && isContinue(chunk) && this.#continues < CONTINUES_MAX) {
        const end = chunk.indexOf('\r\n\r\n');
        if (end < 0) break;
        this.#continues++;
        chunk = end + 4 < chunk.length ? chunk.subarray(end + 4) : read.call(socket, size);
      }
      return chunk;
    };
  }
}

const CONTINUE = Buffer.from('HTTP/1.1 100');

function isContinue(bytes: Buffer): boolean {
  return bytes[9] === 0x31 && bytes.subarray(0, CONTINUE.length).equals(CONTINUE);
}

/**
 * The connections to one origin. How many there are at once is for whoever calls to say; those that nobody uses go by
 * themselves.
 */
export class ConnectionPool {
  readonly #url: string;
  readonly #peer: Peer;
  readonly #options: DialOptions;
  readonly #open: Set<OutgoingConnection>;
  /** The one used last is at the end and is taken first, so that those too many grow old and go. */
  readonly #idle: OutgoingConnection[] = [];

  /** `open`: where those of all origins are listed until they are closed. */
  constructor(url: string, peer: Peer, options: DialOptions, open: Set<OutgoingConnection>) {
    this.#url = url;
    this.#peer = peer;
    this.#options = options;
    this.#open = open;
  }

  take(): OutgoingConnection {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (connection.isUsable) return connection;
      this.drop(connection);
    }
    return this.open();
  }

  open(): OutgoingConnection {
    const connection = new OutgoingConnection(this.#url, this.#peer, this.#options, () => {
      const at = this.#idle.indexOf(connection);
      if (at >= 0) this.#idle.splice(at, 1);
      this.drop(connection);
    });
    this.#open.add(connection);
    return connection;
  }

  keep(connection: OutgoingConnection): void {
    this.#idle.push(connection);
  }

  drop(connection: OutgoingConnection): void {
    void connection.destroy().then(() => this.#open.delete(connection));
  }
}
