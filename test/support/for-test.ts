import pg from 'pg';

/**
 * Every row of every table, as text: to show that something changed nothing. Of timelines only where they begin: a start cannot know whether it
 * was restored meanwhile, so it gives the last one another name if nothing was placed in it.
 */
export async function contents(databaseUrl: string): Promise<Record<string, string[]>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("SELECT set_config('porter.tenant', '*', false)");
    const { rows: tables } = await client.query<{ name: string }>(
      // The access log is written behind the answers, whatever is done meanwhile; when was looked for alerts, by itself.
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE 'access_log%' AND tablename <> 'alert_head' ORDER BY 1",
    );
    const found: Record<string, string[]> = {};
    for (const { name } of tables) {
      const row = name === 'feed_timelines' ? 't.after::text' : 't::text';
      const { rows } = await client.query<{ row: string }>(`SELECT ${row} AS row FROM ${name} t ORDER BY 1`);
      found[name] = rows.map(({ row }) => row);
    }
    return found;
  } finally {
    await client.end();
  }
}
