import { z } from 'zod';
import { type AlertKindName, alertKindNames } from './alerts.ts';
import { timestamp } from './fields.ts';

const KINDS =
  'Of which kinds of alert it is told. null: of all, those to come included. Of leaked keys everybody is told.';

export const contact = z
  .object({
    id: z.string().meta({ description: '`first`: the contact_email of the partner.' }),
    partner_id: z.string().nullable().meta({ description: 'Whose it is; null: of the operator.' }),
    email: z.string().meta({ description: 'The email address that alerts are sent to.' }),
    name: z.string().nullable().meta({ description: 'The name of the contact; null: not given.' }),
    alert_kinds: z.array(z.enum(alertKindNames)).nullable().meta({ description: KINDS }),
    created_at: timestamp().meta({ description: 'When the contact was added.' }),
    updated_at: timestamp().meta({ description: 'When the contact was last changed.' }),
  })
  .meta({ id: 'Contact', description: 'Somebody who is told of alerts by e-mail.' });

export type Contact = z.infer<typeof contact>;

/** Which kinds of alert a contact is told of, out of those that there are for it. */
export const alertKindList = (names: readonly [AlertKindName, ...AlertKindName[]]) =>
  z.array(z.enum(names)).max(names.length).nullable().meta({ description: KINDS });
