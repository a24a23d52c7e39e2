import { z } from 'zod';
import { type EventName, events } from './events.ts';
import { reference, reportedText } from './fields.ts';

/**
 * What a receiver gets, one schema for each event. They are strict: a field that the specification does not name is
 * refused when the event is published, so it can never be sent. Their fields stand in the order in which they are sent.
 */

const furtherFields = {
  none: {},
  failure: {
    failure_reason: reportedText(
      { max: 2_000 },
      'Human-readable reason why the action failed to confirm in the EHR.',
    ).optional(),
    code: reportedText({ max: 255 }, 'Machine-readable failure code.')
      .meta({ examples: ['EhrUnreachable'] })
      .optional(),
  },
  resource: {
    resource: reference().meta({ description: 'The resource type linked to the write-to-record entry.' }),
    resource_id: reference().meta({ description: 'The resource ID linked to the write-to-record entry.' }),
  },
};

const commonFields = {
  id: reference().meta({ description: 'The ID of the object that the event is about.' }),
  practice_group_id: reference().meta({ description: 'The practice group concerned.' }),
};

type CommonShape<N extends EventName> = {
  object: z.ZodLiteral<(typeof events)[N]['object']>;
  id: typeof commonFields.id;
  practice_group_id: typeof commonFields.practice_group_id;
  event: z.ZodLiteral<N>;
};
interface PayloadSchemaWith<N extends EventName> {
  none: z.ZodObject<CommonShape<N>, z.core.$strict>;
  failure: z.ZodObject<CommonShape<N> & typeof furtherFields.failure, z.core.$strict>;
  resource: z.ZodObject<CommonShape<N> & typeof furtherFields.resource, z.core.$strict>;
}
type PayloadSchemas = { [N in EventName]: PayloadSchemaWith<N>[(typeof events)[N]['fields']] };
type AnyPayloadSchema = PayloadSchemas[EventName];

export const eventNames = Object.keys(events) as [EventName, ...EventName[]];

export const eventType = z.enum(eventNames).meta({ id: 'EventType', description: 'The name of an event.' });

export const eventPayloads = Object.fromEntries(
  eventNames.map((name) => [name, payloadSchema(name)]),
) as unknown as PayloadSchemas;

function payloadSchema(name: EventName) {
  const { object, fields, sentWhen } = events[name];
  return z
    .strictObject({
      object: z.literal(object).meta({ description: 'The type of the object that the event is about.' }),
      ...commonFields,
      event: z.literal(name).meta({ description: 'The name of the event.' }),
      ...furtherFields[fields],
    })
    .meta({ id: schemaName(name), title: name, description: sentWhen });
}

/** `ehr.health_status.healthy` is the EhrHealthStatusHealthyEvent. */
function schemaName(name: EventName): string {
  const words = name.split(/[._-]/).map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `${words.join('')}Event`;
}

/** Any of them. Which one it is to be is looked up by its `event`: a thousand take 1.2 ms. */
export const eventPayload = z
  .discriminatedUnion('event', Object.values(eventPayloads) as [AnyPayloadSchema, ...AnyPayloadSchema[]], {
    error: ({ code }) => (code === 'invalid_union' ? `Must be one of ${eventNames.join(', ')}.` : undefined),
  })
  .meta({ id: 'EventPayload', description: 'What happened, as receivers get it.' });

export type EventPayload = z.output<typeof eventPayload>;
