import { banner } from './banner.ts';
import { startService } from './compose.ts';
import { ConfigError, readConfig } from './config.ts';
import { createLogger, redact } from './platform/logger.ts';

const log = createLogger((line) => process.stdout.write(line));

try {
  const config = readConfig(process.env, process.cwd());
  const service = await startService(config, { log });

  // Before the banner: whoever reads it may send a signal at once.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      log.info({ signal }, 'stopping');
      await service.stop();
      log.info({}, 'stopped');
      process.exit(0);
    });
  }
  process.stderr.write(banner(config, service));
} catch (error) {
  // What an operator can mend is told in one sentence; a stack trace is for what only a developer can.
  const reason = error instanceof ConfigError ? `The configuration is not usable:\n${error.message}` : error;
  const told = reason instanceof Error ? (isExpected(reason) ? reason.message : reason.stack) : reason;
  process.stderr.write(`\nPorter cannot start. ${redact(String(told))}\n`);
  process.exit(1);
}

function isExpected(error: Error): boolean {
  return error.constructor !== TypeError && error.constructor !== RangeError && !('severity' in error);
}
