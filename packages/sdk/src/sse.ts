/** What stands between two blank lines of an event stream. A field that did not come is undefined. */
export interface Block {
  id?: string;
  data?: string;
  retry?: number;
}

/** Reads Server-Sent Events, however the bytes are cut into chunks. Comments keep the connection open and say nothing. */
export class BlockReader {
  readonly #decoder = new TextDecoder();
  #rest = '';
  #block: Block = {};

  read(chunk: Uint8Array): Block[] {
    // A carriage return at the very end may be the first half of a line end.
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): Block[] {
    if (line === '') {
      const block = this.#block;
      this.#block = {};
      return [block];
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'id' && !value.includes('\0')) this.#block.id = value;
    if (field === 'retry' && /^\d+$/.test(value)) this.#block.retry = Number(value);
    if (field === 'data')
      this.#block.data = this.#block.data === undefined ? value : `${this.#block.data}\n${value}`;
    return [];
  }
}
