import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Loaded into a service that a test looks into: on SIGUSR2 it writes what its heap holds, garbage left out. */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
process.on('SIGUSR2', () => {
  collect();
  process.stdout.write(`heap ${process.memoryUsage().heapUsed}\n`);
});
