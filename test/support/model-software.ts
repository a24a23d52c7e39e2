import type { ServerResponse } from 'node:http';
import { afterwards } from './afterwards.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import type { Loose } from './service.ts';

/**
 * Practice software in memory that follows docs/operating/practice-software.md to the letter. A test decides how it answers each
 * `change.proposed`, and when.
 */

/** Rejects the change; applies it; or applies it, and Porter never receives the response. */
export type Verdict = 'accept' | 'reject' | 'fail' | 'break off' | 'fail unapplied';

interface Field {
  value: unknown;
  /** The change that has set it. */
  by: string;
}

export interface ModelSoftware {
  url: string;
  receiver: Receiver;
  /** `change.proposed` and `change.withdrawn`, in the order in which they arrived. */
  asked: () => Loose[];
  withdrawn: () => Loose[];
  fieldsOf(objectId: string): Record<string, unknown>;
  /** Judges the next change when it arrives, and answers when `until` is done. */
  next(verdict: Verdict, until?: Promise<void>): void;
  /**
   * Changes a submission type here: `next` gets the fields and returns the new ones. Keeps partners' changes waiting until `send` has brought them
   * to Porter.
   */
  change(
    objectId: string,
    next: (current: Record<string, unknown>) => Record<string, unknown>,
    send: (fields: Record<string, unknown>) => Promise<unknown>,
  ): Promise<void>;
}

export async function startModelSoftware(
  initial: Record<string, Record<string, unknown>>,
): Promise<ModelSoftware> {
  const types = new Map<string, Map<string, Field>>();
  const set = (objectId: string, fields: Record<string, unknown>, by: string) => {
    const type = types.get(objectId) ?? new Map<string, Field>();
    types.set(objectId, type);
    for (const [name, value] of Object.entries(fields)) type.set(name, { value, by });
  };
  for (const [objectId, fields] of Object.entries(initial)) set(objectId, fields, 'own');
  const fieldsOf = (objectId: string) =>
    Object.fromEntries([...(types.get(objectId) ?? [])].map(([name, { value }]) => [name, value]));
  const accepted = new Set<string>();
  const withdrawn = new Set<string>();
  const verdicts: { verdict: Verdict; until: Promise<void> }[] = [];
  /** Its own changes that are on their way to Porter, by submission type. */
  const underWay = new Map<string, Promise<void>>();

  async function ask(response: ServerResponse, { id, object_id, after }: Loose): Promise<void> {
    const { verdict, until } = verdicts.shift() ?? { verdict: 'accept', until: Promise.resolve() };
    while (underWay.has(object_id)) await underWay.get(object_id);
    if (withdrawn.has(id)) return answer(response, 409);
    if (!accepted.has(id)) {
      if (verdict === 'reject') return answer(response, 422);
      if (verdict === 'fail unapplied') return answer(response, 500);
      accepted.add(id);
      set(object_id, after, id);
    }
    await until;
    if (verdict === 'break off') response.destroy();
    else answer(response, verdict === 'fail' ? 500 : 200);
  }

  function takeBack({ id, object_id, before }: Loose): void {
    if (withdrawn.has(id)) return;
    withdrawn.add(id);
    for (const [name, value] of Object.entries(before ?? {}))
      if (types.get(object_id)?.get(name)?.by === id) set(object_id, { [name]: value }, 'own');
  }

  const receiver = await startReceiver({
    behaviour: async (response, { body }) => {
      const change = JSON.parse(body) as Loose;
      if (change.event === 'change.proposed') return ask(response, change);
      takeBack(change);
      answer(response, 204);
    },
  });
  afterwards(() => receiver.close());
  const received = (event: string) =>
    receiver.received.map(({ body }) => JSON.parse(body) as Loose).filter((one) => one.event === event);
  return {
    url: receiver.url,
    receiver,
    asked: () => received('change.proposed'),
    withdrawn: () => received('change.withdrawn'),
    fieldsOf,
    next(verdict, until = Promise.resolve()) {
      verdicts.push({ verdict, until });
    },
    async change(objectId, next, send) {
      while (underWay.has(objectId)) await underWay.get(objectId);
      const fields = next(fieldsOf(objectId));
      set(objectId, fields, 'own');
      const sent = send(fields).finally(() => underWay.delete(objectId));
      underWay.set(
        objectId,
        sent.then(
          () => {},
          () => {},
        ),
      );
      await sent;
    },
  };
}

function answer(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}
