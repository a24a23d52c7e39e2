import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:net';
import type { Config } from './config.ts';

/** Lets requests under way finish, but not for ever. */
export async function finish(server: Server, late: Promise<void>): Promise<void> {
  // Idle connections close now; one whose request is answered from here on is kept for no further request.
  Object.assign(server, { keepAliveTimeout: 1, keepAliveTimeoutBuffer: 0 });
  const closed = once(server, 'close');
  server.close();
  if ((await Promise.race([closed, late.then(() => 'late' as const)])) === 'late')
    server.closeAllConnections();
  await closed;
}

/** Fails as the service would later, but before it has made a database. */
export async function checkPort(config: Config): Promise<void> {
  const probe = createServer().listen({ host: config.host, port: config.port });
  await once(probe, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw cannotListen(error, config);
  });
  probe.close();
  await once(probe, 'close');
}

export function cannotListen(error: NodeJS.ErrnoException, { host, port }: Config): Error {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} of ${host} is taken. Stop the program that listens there, or set PORTER_PORT to another port.`,
    EACCES: `Port ${port} of ${host} is not for this user. Set PORTER_PORT to one above 1023.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Set PORTER_HOST to one that it has, or to 0.0.0.0 for all.`,
    ENOTFOUND: `There is no host ${host}. Set PORTER_HOST to an address of this machine.`,
    EAI_AGAIN: `There is no host ${host}. Set PORTER_HOST to an address of this machine.`,
  };
  const reason = reasons[error.code ?? ''];
  return reason === undefined ? error : new Error(reason, { cause: error });
}

export function addressOf(server: Server, config: Config): string {
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : config.port;
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return `${config.tls ? 'https' : 'http'}://${host}:${port}`;
}
