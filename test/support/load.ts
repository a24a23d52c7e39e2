import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { expect } from 'vitest';
import { type Porter, until } from './porter-process.ts';
import { makeKey, OPERATOR_TOKEN, sender } from './service.ts';

/**
 * Writers that count: each has a submission type of its own and sets its title to 1, 2, 3 … . Whatever happens to the
 * service meanwhile, a row must in the end hold at least the last number that was acknowledged, and the audit trail
 * every number that was.
 */

const WRITERS = 32;
const GROUPS = 4;

interface Row {
  group: string;
  key: string;
  id: string;
  sent: number;
  acknowledged: number;
}

export class Load {
  readonly agent = new Agent({ connections: WRITERS + 8, pipelining: 1 });
  readonly #url: string;
  readonly #rows: Row[] = [];
  /** Request IDs of the answers with 200 since the last check. */
  readonly #acknowledged: string[] = [];
  #writers: Promise<void>[] = [];
  #stopping = false;
  #auditSeen = 0;

  /** Since the start. */
  readonly statuses: Record<number, number> = {};
  readonly connectionErrors: string[] = [];
  /** Answers that nobody may ever get. */
  readonly faults: string[] = [];
  acknowledgements = 0;
  /** Answers that broke off after their head. */
  halfAnswers = 0;

  constructor(url: string) {
    this.#url = url;
  }

  /** Four groups, a key for each that may call as fast as it likes, and a submission type for each writer. */
  async furnish(): Promise<void> {
    for (let n = 0; n < GROUPS; n++) {
      const group = `load-${n}`;
      await this.operator('POST', '/practice-groups', { id: group, name: group });
      const { key } = await makeKey({ operator: this.operator }, group, { rate_limit_per_minute: 100_000 });
      for (let writer = n; writer < WRITERS; writer += GROUPS) {
        const id = `writer-${writer}`;
        const path = `/practice-groups/${group}/submission-types`;
        await this.operator('POST', path, { id, pathway_id: 'p', title: '0' });
        this.#rows.push({ group, key, id, sent: 0, acknowledged: 0 });
      }
    }
    this.#auditSeen = (await this.operator('GET', '/audit/verify')).entries;
  }

  /** For a call beside those of the writers. */
  get credentials(): { 'x-api-key': string; 'x-practice-group-id': string } {
    const { key, group } = this.#rows[0] as Row;
    return { 'x-api-key': key, 'x-practice-group-id': group };
  }

  readonly operator = async (method: string, path: string, body?: unknown) => {
    const send = sender(this.#url, this.agent);
    const answer = await send(method, `/operator/v1${path}`, { token: OPERATOR_TOKEN, body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };

  start(): void {
    this.#stopping = false;
    this.#writers = this.#rows.map((row) => this.#write(row));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#writers);
  }

  /** At the end of a test, however it ended. */
  async abandon(): Promise<void> {
    this.#stopping = true;
    await this.agent.destroy();
    await Promise.all(this.#writers);
  }

  /** Returns when so many more writes have been acknowledged; `by` must live on for that. */
  async acknowledgeMore(count: number, by?: Porter): Promise<void> {
    const goal = this.acknowledgements + count;
    await until(
      () => `${count} more acknowledged writes; ${this.summary()}`,
      () => {
        if (by?.hasExited()) throw new Error(`the service ended: ${by.output().slice(-3_000)}`);
        return this.acknowledgements >= goal;
      },
    );
  }

  summary(): string {
    const errors = Object.entries(Object.groupBy(this.connectionErrors, (error) => error));
    return JSON.stringify({
      statuses: this.statuses,
      connectionErrors: errors.map(([error, all]) => `${all?.length} × ${error}`),
      faults: this.faults.slice(0, 5),
    });
  }

  async #write(row: Row): Promise<void> {
    while (!this.#stopping) {
      const number = ++row.sent;
      const requestId = `${row.id}-${number}`;
      let hasBegun = false;
      try {
        const response = await request(`${this.#url}/v1/care-nav/submission-types/${row.id}`, {
          method: 'PATCH',
          dispatcher: this.agent,
          headersTimeout: 60_000,
          headers: {
            'x-api-key': row.key,
            'x-practice-group-id': row.group,
            'x-request-id': requestId,
            'content-type': 'application/json',
          },
          body: JSON.stringify({ title: String(number) }),
        });
        hasBegun = true;
        const text = await response.body.text();
        const { statusCode: status } = response;
        this.statuses[status] = (this.statuses[status] ?? 0) + 1;
        if (status === 200) {
          if (JSON.parse(text).title !== String(number)) this.faults.push(`wrote ${number}, heard ${text}`);
          row.acknowledged = number;
          this.#acknowledged.push(requestId);
          this.acknowledgements++;
        } else {
          if (status !== 503 || !Number(response.headers['retry-after']))
            this.faults.push(`${status} ${text}`);
          await pause(20);
        }
      } catch (error) {
        const { code, message } = error as { code?: string; message: string };
        this.connectionErrors.push(code ?? message);
        if (hasBegun) this.halfAnswers++;
        await pause(20);
      }
    }
  }

  /** Nothing that was acknowledged is lost, nothing was made up, and the chain is whole. */
  async check(): Promise<void> {
    expect(this.faults.slice(0, 5)).toEqual([]);
    const send = sender(this.#url, this.agent);
    for (const { group, key, id, sent, acknowledged } of this.#rows) {
      const { body } = await send('GET', `/v1/care-nav/submission-types/${id}`, { key, group });
      const title = Number(body.title);
      expect(title, `${id}: acknowledged ${acknowledged}, stored ${title}`).toBeGreaterThanOrEqual(
        acknowledged,
      );
      expect(title, `${id}: sent ${sent}, stored ${title}`).toBeLessThanOrEqual(sent);
    }
    const audited = await this.#auditedSinceLastCheck();
    const missing = this.#acknowledged.filter((id) => audited.get(id) !== 1);
    expect(missing, 'acknowledged, but not once in the audit trail').toEqual([]);
    expect(await this.operator('GET', '/audit/verify')).toEqual({ ok: true, entries: this.#auditSeen });
    this.#acknowledged.length = 0;
  }

  /** How often each request ID stands in the entries that are new. */
  async #auditedSinceLastCheck(): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    const seen = this.#auditSeen;
    let cursor = '';
    for (;;) {
      const page = await this.operator('GET', `/audit?page_size=100${cursor}`);
      for (const { seq, request_id } of page.data as { seq: number; request_id: string }[]) {
        this.#auditSeen = Math.max(this.#auditSeen, seq);
        if (seq > seen) found.set(request_id, (found.get(request_id) ?? 0) + 1);
      }
      if (page.next_cursor === null || page.data.at(-1).seq <= seen) return found;
      cursor = `&cursor=${page.next_cursor}`;
    }
  }
}
