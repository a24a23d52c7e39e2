import { describe, expect, it } from 'vitest';
import { claimNamed, nameOf, roleOf } from '../../src/domain/access/person.ts';

const roles = new Map([
  ['a', 'viewer'],
  ['b', 'admin'],
  ['c', 'support'],
] as const);

describe('what a provider says of somebody', () => {
  it('a claim is found by its name, dots and all, or by a path', () => {
    expect(claimNamed({ 'https://x.example/roles': ['a'] }, 'https://x.example/roles')).toEqual(['a']);
    expect(claimNamed({ realm: { roles: 'a' } }, 'realm.roles')).toBe('a');
    expect(claimNamed({ 'realm.roles': 'b', realm: { roles: 'a' } }, 'realm.roles')).toBe('b');
    for (const name of ['none', 'realm.none', 'realm.roles.length', '__proto__', 'toString'])
      expect(claimNamed({ realm: { roles: 'a' } }, name)).toBeUndefined();
  });

  it('the highest role counts; what is no text, or not known, stands for none', () => {
    expect(roleOf({ groups: ['a', 'c', 'b', 'x'] }, 'groups', roles).role).toBe('admin');
    expect(roleOf({ groups: 'c' }, 'groups', roles).role).toBe('support');
    for (const groups of [undefined, null, 1, {}, ['x'], [['b']], 'B', 'a,b'])
      expect(roleOf({ groups }, 'groups', roles).role).toBeUndefined();
  });

  it('has a name that people know, of a length that fits', () => {
    expect(nameOf({ sub: '1', email: 'a@b.example', name: ' ' })).toBe('a@b.example');
    expect(nameOf({ sub: '1', name: 'Ann\0\ud800\u202e' })).toBe('Ann\ufffd');
    expect([...nameOf({ sub: '1', name: '🩺'.repeat(300) })]).toHaveLength(255);
    expect(nameOf({ sub: '1', name: 3 })).toBe('1');
    expect(nameOf({ sub: '1', name: '\0\u202e', email: 'a@b.example' })).toBe('a@b.example');
  });
});
