import { describe, expect, it } from 'vitest';
import { refuseOldServer, UnusableDatabase } from '../../src/store/migrate.ts';

describe('the version of PostgreSQL', () => {
  it.each(['9.6.24', '10.23', '14.22', '14.9 (Debian 14.9-1.pgdg120+1)', '14beta1', '0'])(
    '%s is too old',
    (version) => {
      expect(() => refuseOldServer(version)).toThrow(UnusableDatabase);
      // What is wrong, what is needed, and what to do.
      expect(() => refuseOldServer(version)).toThrow(`PostgreSQL ${version} is too old`);
      expect(() => refuseOldServer(version)).toThrow(/needs version 15 or newer.*DATABASE_URL/);
    },
  );

  it.each(['15.0', '15.15 (Debian 15.15-0+deb12u1)', '16.4', '18.4', '19devel', '18beta1'])(
    '%s will do',
    (version) => {
      expect(() => refuseOldServer(version)).not.toThrow();
    },
  );
});
