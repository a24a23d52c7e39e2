import { z } from 'zod';
import { type Role, readers, support } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { legibleParagraphs, recordId, reference, reportedText, timestamp } from '../../fields.ts';
import { pageOf, pageQuery, shortPages } from '../../page.ts';
import { changeStates } from '../../partner/changes.ts';
import { HEARTBEAT_SECONDS } from '../../partner/events.ts';

const fields = (what: string) =>
  z.record(z.string(), z.unknown()).meta({
    description: `The fields that changed, as they were ${what}.`,
    examples: [{ suspended: what === 'after' }],
  });

export const change = z
  .object({
    id: z.string().meta({ examples: ['chg_2a_9f86d081884c7d65'] }),
    kind: z.literal('submission_type'),
    practice_group_id: z.string(),
    object_id: z.string().meta({ description: 'The submission type.' }),
    before: fields('before'),
    after: fields('after'),
    partner_id: z.string(),
    key_id: z.string(),
    request_id: z.string().nullable(),
    state: z.enum(changeStates).meta({
      description:
        'pending: the practice software has not said what became of it. applied: it has the change, too. rejected: it does not take it.',
    }),
    reason: z.string().nullable().meta({ description: 'Why it was rejected.' }),
    at: timestamp().meta({ description: 'When the partner changed it.' }),
    ended_at: timestamp().nullable().meta({ description: 'When it was applied or rejected.' }),
  })
  .meta({
    id: 'Change',
    description: 'A change that a partner made, on its way to the practice software.',
  });

export type Change = z.infer<typeof change>;

const tag = 'Changes';
/** The practice software has a token of the role source: what it is told of, it may read. */
const readersAndSources = [...readers, 'source'] as const satisfies Role[];
/** Where the practice software says nothing, somebody who has asked there says it for it. */
const sourcesAndSupport = [...support, 'source'] as const satisfies Role[];
const byId = z.strictObject({ id: recordId() });
const answer = { status: 200, description: 'The change.', body: change } as const;
const filters = {
  practice_group_id: reference().optional(),
  state: z.enum(changeStates).optional(),
};

export const listChanges = defineEndpoint({
  operationId: 'listChanges',
  method: 'GET',
  path: '/operator/v1/changes',
  tag,
  summary: 'List changes',
  description:
    'Reads the feed of changes: every change that a partner made to a submission type, in the order in which they were made. Send `next_cursor` as `cursor` to go on. The last page has one too: keep it, and send it later to get what was changed since. Should the service ever be set back to a backup, a cursor from after that point is answered with 410 and with the one to go on from. With `state=pending`, what the practice software has not answered yet, the oldest first. With a filter a page may hold fewer changes than asked for, even none, while `has_more` is true.',
  extension: true,
  access: { roles: readersAndSources },
  query: z.strictObject({ ...pageQuery, ...filters }),
  response: {
    status: 200,
    description: 'One page.',
    body: z
      .object({
        data: z.array(change),
        count: z.int().min(0).meta({ description: 'How many changes this page holds.' }),
        next_cursor: z.string().meta({ description: 'Send it as `cursor` to go on from here.' }),
        has_more: z.boolean().meta({ description: 'Whether there is more to read at this moment.' }),
      })
      .meta({ id: 'ChangeFeedPage' }),
  },
  problems: ['cursor_gone'],
});

export const listLatestChanges = defineEndpoint({
  operationId: 'listLatestChanges',
  method: 'GET',
  path: '/operator/v1/changes/latest',
  tag,
  summary: 'List the latest changes',
  description: `For people who look: what partners changed, newest first. Software that is to miss nothing reads the feed. ${shortPages}`,
  extension: true,
  access: { roles: readersAndSources },
  query: z.strictObject({ ...pageQuery, ...filters, partner_id: recordId().optional() }),
  response: { status: 200, description: 'One page.', body: pageOf(change) },
  problems: [],
});

export const streamChanges = defineEndpoint({
  operationId: 'streamChanges',
  method: 'GET',
  path: '/operator/v1/changes/stream',
  tag,
  summary: 'Stream changes',
  description: `Sends the feed of changes as Server-Sent Events: one message for each, with its cursor as \`id\`. The stream begins now, or after \`cursor\`. After a lost connection, send the last \`id\` as \`Last-Event-ID\`: nothing is missed. A heartbeat comment is sent after ${HEARTBEAT_SECONDS} seconds without a change.`,
  extension: true,
  access: { roles: readersAndSources },
  query: z.strictObject({ cursor: pageQuery.cursor, practice_group_id: filters.practice_group_id }),
  response: { status: 200, description: 'Changes, as they are made.', stream: true, body: change },
  problems: ['conflict', 'cursor_gone'],
});

export const getChange = defineEndpoint({
  operationId: 'getChange',
  method: 'GET',
  path: '/operator/v1/changes/{id}',
  tag,
  summary: 'Get a change',
  extension: true,
  access: { roles: readersAndSources },
  params: byId,
  response: answer,
  problems: ['not_found'],
});

export const reportChangeApplied = defineEndpoint({
  operationId: 'reportChangeApplied',
  method: 'POST',
  path: '/operator/v1/changes/{id}/applied',
  tag,
  summary: 'Report that a change was applied',
  description:
    'The practice software has the change: said by itself, or by somebody who has looked. Said again, it is answered the same. The answer is 409 when the change was rejected.',
  extension: true,
  access: { roles: sourcesAndSupport },
  params: byId,
  response: answer,
  problems: ['not_found', 'conflict'],
});

const REASON_MAX = 1_000;

export const reportChangeRejected = defineEndpoint({
  operationId: 'reportChangeRejected',
  method: 'POST',
  path: '/operator/v1/changes/{id}/rejected',
  tag,
  summary: 'Report that a change was rejected',
  description:
    'The practice software does not take the change; the partner is shown `reason`. The submission type stays as the partner made it until somebody changes it. Said again, it is answered the same, with the first reason. The answer is 409 when the change was applied.',
  extension: true,
  access: { roles: sourcesAndSupport },
  params: byId,
  body: z.strictObject({
    reason: reportedText({ min: 1, max: REASON_MAX }, 'For the partner, as a sentence.')
      .overwrite(legibleParagraphs)
      .meta({
        examples: ['This form is closed over the holidays.'],
      }),
  }),
  response: answer,
  problems: ['not_found', 'conflict'],
});
