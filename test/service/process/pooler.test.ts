import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { SYSTEM } from '../../../src/domain/access/principal.ts';
import { transact } from '../../../src/store/database.ts';
import { createUpToDateDatabase, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** What PgBouncer lets a connection begin with. */
const KNOWN = ['user', 'database', 'application_name', 'client_encoding', 'datestyle', 'timezone'];

/** Stands between the service and PostgreSQL as PgBouncer does in session mode: it refuses connections that begin with more. */
async function startPooler(databaseUrl: string): Promise<string> {
  const { port, hostname } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => other.destroy());
    }
    client.once('data', (first) => {
      // Its length and the version of the protocol, then names and values, each with a zero at its end.
      const words = first.subarray(8).toString().split('\0');
      const unknown = words.find((name, at) => at % 2 === 0 && name !== '' && !KNOWN.includes(name));
      if (unknown !== undefined) client.end(refusal(`unsupported startup parameter: ${unknown}`));
      else {
        upstream.write(first);
        client.pipe(upstream).pipe(client);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const through = new URL(databaseUrl);
  through.port = String((server.address() as AddressInfo).port);
  return through.href;
}

function refusal(text: string): Buffer {
  return message('E', `SFATAL\0C08P01\0M${text}\0\0`);
}

function message(type: string, content: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(content, 'latin1')]);
}

it('behind a pooler that takes no settings, connections have them all the same', async () => {
  const databaseUrl = await createUpToDateDatabase();
  const db = await superuser(databaseUrl);
  const name = new URL(databaseUrl).pathname.slice(1);
  await db.query(`ALTER DATABASE ${name} SET TimeZone = 'America/New_York'`);
  const house = await startHarness({ databaseUrl: await startPooler(databaseUrl) });

  const now = new Date(house.clock.now()).toISOString();
  const group = await house.operator('POST', '/practice-groups', { id: 'g', name: 'G' });
  expect(group.created_at).toBe(now);
  expect((await house.operator('GET', '/practice-groups/g')).created_at).toBe(now);
  const settings = await transact(house.service.app.db, SYSTEM, (tx) =>
    tx.query(
      `SELECT current_user, current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
              current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('jit') AS jit`,
    ),
  );
  expect(settings).toEqual([
    { current_user: 'porter_app', statement: '10s', lock: '5s', idle: '10s', jit: 'off' },
  ]);
});

it('a pooler that shares connections between transactions is refused', async () => {
  const ready = message('Z', 'I');
  // One column of text without a name, and one row: the session with the number 7, whoever asks.
  const column = message('T', `\0\x01\0${'\0'.repeat(9)}\x19\0\0${'\xff'.repeat(4)}\0\0`);
  const same = [column, message('D', '\0\x01\0\0\0\x017'), message('C', 'SELECT 1\0'), ready];
  const server = createServer((client) => {
    client.on('error', () => {});
    client.once('data', () => {
      client.write(Buffer.concat([message('R', '\0\0\0\0'), ready]));
      client.on('data', (asked) => asked[0] === 'Q'.charCodeAt(0) && client.write(Buffer.concat(same)));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const started = startHarness({ databaseUrl: `postgres://porter@127.0.0.1:${port}/porter` });
  await expect(started).rejects.toThrow(
    /shares connections between transactions\. Let it work in session mode/,
  );
});
