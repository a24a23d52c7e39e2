import { Groups } from './generated/groups.ts';
import type { PorterOptions } from './options.ts';
import { Transport } from './transport.ts';

/** The partner API of Porter, on behalf of one practice group. */
export class Porter extends Groups {
  readonly #options: PorterOptions;

  constructor(options: PorterOptions) {
    super(new Transport(options));
    this.#options = options;
  }

  /** A client with the same key for another practice group: one that shares a network with the key's own. */
  actingFor(practiceGroupId: string): Porter {
    return new Porter({ ...this.#options, practiceGroupId });
  }
}
