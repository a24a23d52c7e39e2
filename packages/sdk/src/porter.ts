import { checkOptions, readBaseUrl } from './check.ts';
import { Groups } from './generated/groups.ts';
import type { PorterOptions } from './options.ts';
import { Transport } from './transport.ts';

/** The partner API of Porter, on behalf of one practice group. */
export class Porter extends Groups {
  readonly #options: PorterOptions;

  constructor(options: PorterOptions) {
    checkOptions(options);
    const { apiKey, practiceGroupId, baseUrl, ...others } = options;
    const headers = { 'x-api-key': apiKey, 'x-practice-group-id': practiceGroupId };
    super(new Transport({ ...others, baseUrl: readBaseUrl(baseUrl), headers }));
    this.#options = options;
  }

  /** A client with the same key for another practice group: one that shares a network with the key's own. */
  actingFor(practiceGroupId: string): Porter {
    return new Porter({ ...this.#options, practiceGroupId });
  }
}
