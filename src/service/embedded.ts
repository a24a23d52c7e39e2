import type { Logger } from '../platform/logger.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../platform/postgres/embedded.ts';
import type { Config } from './config.ts';

/** For the service and those who look in; beyond that, each process has its own. */
const CONNECTIONS_MIN = 60;
const CONNECTIONS_PER_PROCESS = 16;

export function startEmbedded(config: Config, log: Logger): Promise<EmbeddedPostgres> {
  const connections = Math.max(CONNECTIONS_MIN, (config.processes + 1) * CONNECTIONS_PER_PROCESS);
  return startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: (message, fields) => log.info(fields ?? {}, message),
    settings: { max_connections: String(connections) },
  });
}
