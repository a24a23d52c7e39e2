import type { Server, ServerResponse } from 'node:http';
import type { BlockList, Socket } from 'node:net';
import { contains } from '../domain/access/address-list.ts';
import { addressKey, plainAddress } from './transport.ts';

export interface ConnectionLimits {
  total: number;
  perAddress: number;
}

/** What is kept of a connection, with the socket itself: looked up in three weak maps, it was a twentieth of a GET. */
interface Connection {
  /** The caller has shown who it is. */
  isKnown: boolean;
  /** Nobody can say any more where a request begins. */
  isBroken: boolean;
  /** With a body that goes on: for as long as something comes, the time of a whole request does not hold. */
  isGoingOn: boolean;
  /** The last answer, and those before it that were not taken when it began. */
  last: ServerResponse | undefined;
  unread: ServerResponse[];
}

const connection = Symbol('connection');

export function connectionOf(socket: Socket & { [connection]?: Connection }): Connection {
  socket[connection] ??= { isKnown: false, isBroken: false, isGoingOn: false, last: undefined, unread: [] };
  return socket[connection];
}

/**
 * The connections that callers hold open. From one address there are only so many, unless it is a trusted proxy's, which brings
 * everybody's. When there are too many, from one address or in all, the oldest gives way whose caller has not shown a key that works:
 * unauthenticated callers who hold connections open keep no partner out, not even one behind their own address.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #trusted: BlockList;
  readonly #byAddress = new Map<string, number>();
  /** Of callers who are not known, in the order in which they came, by their own address and port. */
  readonly #strangers = new Map<string, { socket: Socket; address: string }>();
  open = 0;
  refused = 0;

  constructor(limits: ConnectionLimits, trusted: BlockList) {
    this.#limits = limits;
    this.#trusted = trusted;
  }

  /** Stands before whatever the server does with a connection, TLS included. */
  guard(server: Server): void {
    const accept = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      if (this.#admit(socket)) for (const listener of accept) listener.call(server, socket);
      else socket.resetAndDestroy();
    });
  }

  /** The caller has shown who it is. */
  know(socket: Socket): void {
    const known = connectionOf(socket);
    if (known.isKnown) return;
    known.isKnown = true;
    // Over TLS, this is not the socket that was admitted, but it has the same ends.
    this.#strangers.delete(endOf(socket));
  }

  #admit(socket: Socket): boolean {
    const peer = plainAddress(socket.remoteAddress ?? '');
    // It is gone already.
    if (peer === '') return false;
    const isProxy = contains(this.#trusted, peer);
    const address = addressKey(peer);
    const ofAddress = this.#byAddress.get(address) ?? 0;
    const isTooMany = !isProxy && ofAddress >= this.#limits.perAddress;
    const isFull = isTooMany || this.open >= this.#limits.total;
    if (isFull && !this.#makeRoom(isTooMany ? address : undefined)) {
      this.refused++;
      return false;
    }
    this.open++;
    this.#byAddress.set(address, (this.#byAddress.get(address) ?? 0) + 1);
    const end = endOf(socket);
    if (!isProxy) this.#strangers.set(end, { socket, address });
    socket.once('close', () => {
      this.open--;
      const left = (this.#byAddress.get(address) ?? 0) - 1;
      if (left > 0) this.#byAddress.set(address, left);
      else this.#byAddress.delete(address);
      if (this.#strangers.get(end)?.socket === socket) this.#strangers.delete(end);
    });
    return true;
  }

  /** Closes the oldest connection without a key that works: of this address, or of all. */
  #makeRoom(address: string | undefined): boolean {
    for (const [end, oldest] of this.#strangers) {
      if (address !== undefined && oldest.address !== address) continue;
      this.#strangers.delete(end);
      this.refused++;
      oldest.socket.destroy();
      return true;
    }
    return false;
  }
}

const endOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
