import pg from 'pg';

/** What changes by itself, and may be left aside by a test in which it does. */
interface Aside {
  /** It is written behind the answers, whatever is done meanwhile. */
  accessLog?: true;
  /** A start cannot know whether it was restored meanwhile, so it gives the last one another name if nothing was placed in it. */
  timelineNames?: true;
}

/** Every row of every table, as text: to show that something changed nothing. */
export async function contents(databaseUrl: string, aside: Aside = {}): Promise<Record<string, string[]>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("SELECT set_config('porter.tenant', '*', false)");
    const { rows: tables } = await client.query<{ name: string }>(
      // Written by itself, whatever is done meanwhile: when was looked for alerts, that the service runs, how much it and each key is used, who is to be told of alerts.
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'
          AND tablename NOT IN ('alert_head', 'uptime', 'usage', 'usage_times', 'figures', 'nodes', 'key_uses', 'alert_notices', 'notifications') ORDER BY 1`,
    );
    const found: Record<string, string[]> = {};
    for (const { name } of tables) {
      if (aside.accessLog && name.startsWith('access_log')) continue;
      const row = aside.timelineNames && name === 'feed_timelines' ? 't.after::text' : 't::text';
      const { rows } = await client.query<{ row: string }>(`SELECT ${row} AS row FROM ${name} t ORDER BY 1`);
      found[name] = rows.map(({ row }) => row);
    }
    return found;
  } finally {
    await client.end();
  }
}
