import { describe, expect, it } from 'vitest';
import { hostsOf, rotated } from '../../src/store/hosts.ts';

describe('a database URL', () => {
  it('with one server stays as it was written, and any session will do', () => {
    for (const url of [
      'postgres://porter:p%40ss@db.internal:5432/porter?sslmode=verify-full&sslrootcert=/etc/ca.pem',
      'postgresql://localhost/porter',
      'postgres:///porter?host=/var/run/postgresql',
      'postgres://u:a@b@host/porter',
    ])
      expect(hostsOf(url)).toMatchObject({ urls: [url], check: undefined });
  });

  it('with several servers is one for each, with the same login, database and options', () => {
    const url = 'postgres://u:p@one:5432,[::1]:5433,three/db?sslmode=require&target_session_attrs=read-write';
    const { urls, check, place } = hostsOf(url);
    expect(urls).toEqual([
      'postgres://u:p@one:5432/db?sslmode=require',
      'postgres://u:p@[::1]:5433/db?sslmode=require',
      'postgres://u:p@three/db?sslmode=require',
    ]);
    expect(check).toContain('transaction_read_only');
    expect(place).toBe('one:5432,[::1]:5433,three/db');
    expect(hostsOf('postgres://one,two/db').check).toBe(check);
    expect(hostsOf('postgres://one,two/db?target_session_attrs=any').check).toBeUndefined();
    expect(hostsOf('postgres://one/db?target_session_attrs=primary').check).toContain('pg_is_in_recovery');
  });

  it.each([
    ['mysql://one/db', 'must look like'],
    ['postgres://one,/db', '"" is no host'],
    ['postgres://one,two:port/db', '"two:port" is no host'],
    ['postgres://one,two/db?target_session_attrs=standby', 'because Porter writes'],
  ])('is refused with what is wrong: %s', (url, reason) => {
    expect(() => hostsOf(url)).toThrow(reason);
  });
});

it('several servers are tried in turns', () => {
  const url = 'postgres://me:pw@one:1,two:2,three:3/db?target_session_attrs=any';
  const hosts = [0, 1, 2, 3].map((turn) => hostsOf(rotated(url, turn)).place);
  expect(hosts).toEqual([
    'one:1,two:2,three:3/db',
    'two:2,three:3,one:1/db',
    'three:3,one:1,two:2/db',
    hosts[0],
  ]);
  expect(rotated(url, 1)).toBe('postgres://me:pw@two:2,three:3,one:1/db?target_session_attrs=any');
  expect(rotated('postgres://one/db', 5)).toBe('postgres://one/db');
});
