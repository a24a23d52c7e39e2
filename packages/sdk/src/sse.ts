/**
 * Server-Sent Events, by itself: this file needs nothing else of the library.
 *
 *     const parser = new SseParser();                       // one for each connection
 *     for await (const chunk of response.body)              // chunks are bytes, cut anywhere
 *       for (const { id, event, data, retry } of parser.push(chunk)) …
 *
 * `push` returns every block that the chunk has completed, in order. A block of comments alone is `{}`: somebody is still
 * there. What a connection cut off in the middle of a block is never returned. It throws a RangeError when a block is longer
 * than `SSE_BLOCK_MAX`: leave that connection.
 */

/** What stands between two blank lines of an event stream. A field that did not come is not there. */
export interface SseMessage {
  id?: string;
  event?: string;
  data?: string;
  /** Milliseconds. */
  retry?: number;
}

/** In characters; far more than any event has. */
export const SSE_BLOCK_MAX = 1_048_576;

export class SseParser {
  readonly #decoder = new TextDecoder();
  #message: SseMessage = {};
  /** The line that has not ended yet. */
  #rest = '';
  /** The length of the lines of this block that have ended. */
  #length = 0;
  #endedWithReturn = false;

  push(chunk: Uint8Array): SseMessage[] {
    const text = this.#decoder.decode(chunk, { stream: true });
    if (text === '') return [];
    // A carriage return has ended its line. What follows may be the other half of that line end.
    const isHalf = this.#endedWithReturn && text.startsWith('\n');
    this.#endedWithReturn = text.endsWith('\r');
    const lines = (isHalf ? text.slice(1) : text).split(/\r\n|\n|\r/);
    lines[0] = this.#rest + lines[0];
    this.#rest = lines.pop() ?? '';
    const messages = lines.flatMap((line) => this.#line(line));
    this.#checkLength(this.#rest);
    return messages;
  }

  #line(line: string): SseMessage[] {
    if (line === '') {
      const message = this.#message;
      this.#message = {};
      this.#length = 0;
      return [message];
    }
    this.#checkLength(line);
    this.#length += line.length;
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'id' && !value.includes('\0')) this.#message.id = value;
    if (field === 'event') this.#message.event = value;
    if (field === 'retry' && /^\d+$/.test(value)) this.#message.retry = Number(value);
    if (field === 'data')
      this.#message.data = this.#message.data === undefined ? value : `${this.#message.data}\n${value}`;
    return [];
  }

  #checkLength(line: string): void {
    if (this.#length + line.length > SSE_BLOCK_MAX)
      throw new RangeError(`A block of the event stream is longer than ${SSE_BLOCK_MAX} characters.`);
  }
}
