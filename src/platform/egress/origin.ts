import type { Network, Place } from './connect.ts';
import { Line } from './line.ts';

/** The lines to one origin. How many there are at once is for whoever calls to say; those that nobody uses go by themselves. */
export class Origin {
  readonly #url: string;
  readonly #place: Place;
  readonly #network: Network;
  readonly #lines: Set<Line>;
  /** The one used last is at the end and is taken first, so that those too many grow old and go. */
  readonly #idle: Line[] = [];

  /** `lines`: where those of all origins are listed until they are closed. */
  constructor(url: string, place: Place, network: Network, lines: Set<Line>) {
    this.#url = url;
    this.#place = place;
    this.#network = network;
    this.#lines = lines;
  }

  take(): Line {
    for (let line = this.#idle.pop(); line; line = this.#idle.pop()) {
      if (line.isUsable) return line;
      this.drop(line);
    }
    return this.open();
  }

  open(): Line {
    const line = new Line(this.#url, this.#place, this.#network, () => {
      const at = this.#idle.indexOf(line);
      if (at >= 0) this.#idle.splice(at, 1);
      this.drop(line);
    });
    this.#lines.add(line);
    return line;
  }

  keep(line: Line): void {
    this.#idle.push(line);
  }

  drop(line: Line): void {
    void line.destroy().then(() => this.#lines.delete(line));
  }
}
