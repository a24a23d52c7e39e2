import pg from 'pg';
import { sqlFunction } from './sql-functions.ts';

/**
 * Whom the service works as. The login of the service owns nothing: another one, which owns the tables, migrates and then lets it read and
 * write rows (src/sql/grant_to_service.sql). Where there is one login only, the service works through a role that is as restricted. That
 * keeps mistakes from doing harm; whoever has taken over the connection can leave the role again, so the start says so.
 */

/** Why the service will not work with this database; the message says what to do. */
export class UnusableDatabase extends Error {}

/** PostgreSQL's code for what a login may not do. */
export const MAY_NOT = '42501';

const RESTRICTED_ROLE = 'porter_app';

const grantToServiceSql = sqlFunction('grant_to_service', { grantee: 'text' });

export interface ServiceRole {
  /** The role that statements must run as, where the login itself may do more than the service needs. */
  role: string | undefined;
  /** The login, where it is all there is: it owns the tables and runs the service. */
  onlyLogin: string | undefined;
}

/** The owner lets the login of the service in. */
export async function letServiceIn(owner: pg.Client, service: pg.Client): Promise<ServiceRole> {
  const login = await loginOf(service);
  const { name: ownerName } = await loginOf(owner);
  if (login.name === ownerName) return enterRole(owner);
  const { rows } = await owner.query<{ isOwner: boolean }>(
    `SELECT pg_has_role($1, relowner, 'MEMBER') AS "isOwner" FROM pg_class WHERE oid = 'schema_migrations'::regclass`,
    [login.name],
  );
  if (login.superuser || login.bypasses || rows[0]?.isOwner)
    throw new UnusableDatabase(
      `The login ${login.name} of DATABASE_URL may do more than run the service: it is a superuser, bypasses row-level security, or owns the tables. Let it be an ordinary login that owns nothing (CREATE ROLE … LOGIN), beside the owner in PORTER_MIGRATION_DATABASE_URL.`,
    );
  await grantTo(owner, login.name);
  return { role: undefined, onlyLogin: undefined };
}

/** There is one login. If it owns the tables, it works through a role that does not, if it may have one. */
export async function enterRole(client: pg.Client): Promise<ServiceRole> {
  const { name, superuser, bypasses, makesRoles } = await loginOf(client);
  if (!(await ownsTables(client))) return { role: undefined, onlyLogin: undefined };
  const mustEnter = superuser || bypasses;
  if (!mustEnter && !makesRoles && !(await isMember(client))) return { role: undefined, onlyLogin: name };
  try {
    await makeRole(client, superuser);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== MAY_NOT) throw error;
    // The policies of the tables bind their owner too.
    if (!mustEnter) return { role: undefined, onlyLogin: name };
    throw new UnusableDatabase(
      `The login of DATABASE_URL bypasses row-level security, and may not make and use the role ${RESTRICTED_ROLE} instead (${error.message}). Let an administrator run ALTER ROLE … NOBYPASSRLS for this login.`,
    );
  }
  await grantTo(client, RESTRICTED_ROLE);
  return { role: RESTRICTED_ROLE, onlyLogin: name };
}

/** Whether this login may change the tables; also where there are none yet. */
export async function ownsTables(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ owns: boolean }>(
    `SELECT pg_has_role(relowner, 'USAGE') AS owns FROM pg_class WHERE oid = to_regclass('schema_migrations')`,
  );
  return rows[0]?.owns ?? true;
}

interface Login {
  name: string;
  superuser: boolean;
  bypasses: boolean;
  makesRoles: boolean;
}

async function loginOf(client: pg.Client): Promise<Login> {
  const { rows } = await client.query<Login>(
    `SELECT rolname AS name, rolsuper AS superuser, rolbypassrls AS bypasses, rolcreaterole AS "makesRoles"
       FROM pg_roles WHERE rolname = current_user`,
  );
  return rows[0] as Login;
}

async function isMember(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ member: boolean }>(
    `SELECT pg_has_role(oid, 'MEMBER') AS member FROM pg_roles WHERE rolname = $1`,
    [RESTRICTED_ROLE],
  );
  return rows[0]?.member ?? false;
}

async function makeRole(client: pg.Client, isSuperuser: boolean): Promise<void> {
  // Roles belong to the whole server, and another database's start may be making the same one at this moment.
  await client.query(`DO $$ BEGIN CREATE ROLE ${RESTRICTED_ROLE} NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`);
  if (!isSuperuser) await client.query(`GRANT ${RESTRICTED_ROLE} TO current_user`);
}

/**
 * Lets everybody who runs the service already into tables that are new, in the transaction that makes them: a node of the version before calls
 * functions whose new text names these tables as soon as it is committed.
 */
export async function grantToThoseWhoServe(owner: pg.Client): Promise<void> {
  const { rows } = await owner.query<{ name: string }>(
    `SELECT given.grantee::regrole::text AS name
       FROM pg_class, LATERAL aclexplode(relacl) AS given
      WHERE oid = 'schema_migrations'::regclass AND given.grantee NOT IN (0, relowner) GROUP BY 1`,
  );
  for (const { name } of rows) await grantTo(owner, name);
}

async function grantTo(client: pg.Client, grantee: string): Promise<void> {
  await grantToServiceSql(
    { query: async (text, values) => (await client.query(text, values as unknown[])).rows },
    { grantee },
  );
}
