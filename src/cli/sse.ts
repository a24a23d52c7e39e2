/** One event of a `text/event-stream`, as the standard of server-sent events says. */
export interface ServerSentEvent {
  event: string;
  data: string;
}

/**
 * Reads a stream of server-sent events, however its bytes are cut into chunks. `lastEventId` and `retryMs` are to be asked
 * for after each chunk: they also change with blocks that carry no data.
 */
export class SseParser {
  lastEventId: string | undefined;
  retryMs: number | undefined;
  readonly #decoder = new TextDecoder();
  #rest = '';
  #id: string | undefined;
  #event = '';
  #data: string[] = [];

  push(chunk: Uint8Array): ServerSentEvent[] {
    this.#rest += this.#decoder.decode(chunk, { stream: true });
    const events: ServerSentEvent[] = [];
    // A CR at the very end may be half of a CRLF.
    for (let end = /\r\n|\n|\r(?!$)/.exec(this.#rest); end; end = /\r\n|\n|\r(?!$)/.exec(this.#rest)) {
      const line = this.#rest.slice(0, end.index);
      this.#rest = this.#rest.slice(end.index + end[0].length);
      const event = this.#line(line);
      if (event) events.push(event);
    }
    return events;
  }

  #line(line: string): ServerSentEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#event = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
    return undefined;
  }

  /** An empty line ends a block. Only now its ID counts: what was cut off in the middle is sent again. */
  #dispatch(): ServerSentEvent | undefined {
    this.lastEventId = this.#id;
    const [event, data] = [this.#event || 'message', this.#data];
    this.#event = '';
    this.#data = [];
    return data.length > 0 ? { event, data: data.join('\n') } : undefined;
  }
}
