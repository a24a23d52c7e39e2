import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'fast-querystring';
import type { Transport } from './transport.ts';

/** What is learned about a request on its way through, for its one log line. */
interface Trace {
  startedAt: number;
  operation: string;
  error?: string;
  keyId?: string;
  partnerId?: string;
  /** That the call named, whether or not it may act for it. */
  practiceGroupId?: string | undefined;
  operatorId?: string;
}

/** What all requests have in common. */
interface Desk {
  /** Writes the log line and the metrics. */
  finish(exchange: Exchange, status: number): void;
  /** The service is about to stop: connections are not kept for further requests. */
  isClosing(): boolean;
}

/** A request, what was found out about it, and the answer that gathers meanwhile. */
export class Exchange {
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: string;
  /** The address by which it is routed, query included. */
  readonly url: string;
  readonly transport: Transport;
  readonly trace: Trace;
  /** Names and values of headers in turn, as Node takes them. */
  readonly outgoing: string[];
  readonly desk: Desk;
  params: unknown = undefined;

  constructor(
    raw: IncomingMessage,
    response: ServerResponse,
    id: string,
    url: string,
    transport: Transport,
    startedAt: number,
    desk: Desk,
  ) {
    this.raw = raw;
    this.response = response;
    this.id = id;
    this.url = url;
    this.transport = transport;
    this.trace = { startedAt, operation: 'none' };
    this.desk = desk;
    this.outgoing = ['x-request-id', id, 'cache-control', 'no-store'];
  }

  get method(): string {
    return this.raw.method ?? '';
  }

  get headers(): IncomingMessage['headers'] {
    return this.raw.headers;
  }

  get path(): string {
    const end = this.url.indexOf('?');
    return end < 0 ? this.url : this.url.slice(0, end);
  }

  get query(): Record<string, unknown> {
    const start = this.url.indexOf('?');
    return start < 0 ? {} : parse(this.url.slice(start + 1));
  }
}
