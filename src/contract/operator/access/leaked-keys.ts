import { z } from 'zod';
import { support } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { decided, legible, text } from '../../fields.ts';

const REPORTS_MAX = 100;

const secret = () => text({ min: 1, max: 255 });
const found = {
  source: text({ max: 255 }).overwrite(legible).optional().meta({ description: 'Who or what found it.' }),
  url: text({ max: 2_048 }).overwrite(legible).optional().meta({ description: 'Where it was found.' }),
};

const report = z
  .strictObject({ key: secret(), ...found })
  .meta({ id: 'LeakReport', description: 'A key that was found where it should not be.' });

const scannerMatch = z
  .strictObject({ token: secret(), type: text({ max: 255 }).optional(), ...found })
  .meta({ id: 'ScannerMatch', description: "One match, as GitHub's secret scanning sends it." });

const hasToken = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'token');

const reports = z
  .array(decided(z.union([report, scannerMatch]), (value) => (hasToken(value) ? scannerMatch : report)))
  .min(1)
  .max(REPORTS_MAX);

const leakOutcomes = ['revoked', 'already_revoked', 'unknown', 'not_a_key'] as const;

const reportedKey = z
  .object({
    outcome: z.enum(leakOutcomes).meta({
      description:
        '`revoked`: it worked, and does not any more. `already_revoked`: nothing was left to do. `unknown`: well-formed, but none of this deployment. `not_a_key`: its checksum is wrong.',
    }),
    last_four: z.string().meta({ description: 'How the reported text ends.' }),
    key_id: z.string().nullable(),
    partner_id: z.string().nullable(),
  })
  .meta({ id: 'ReportedKey' });

export type ReportedKey = z.infer<typeof reportedKey>;

export const reportLeakedKeys = defineEndpoint({
  operationId: 'reportLeakedKeys',
  method: 'POST',
  path: '/operator/v1/leaked-keys',
  tag: 'Keys',
  summary: 'Report leaked keys',
  description: `Revokes a key that was found in public, and answers when no node accepts it any more. Whoever still uses it is told why. Takes one report, or up to ${REPORTS_MAX} in an array, also as GitHub's secret scanning sends them. Reporting a key twice is no error.`,
  extension: true,
  access: { roles: support },
  body: decided(z.union([report, reports]), (value) =>
    Array.isArray(value) && value.length > 0 ? reports : report,
  ),
  response: {
    status: 200,
    description: 'What was found, in the order of the reports.',
    body: z.object({ data: z.array(reportedKey), count: z.int() }).meta({ id: 'ReportedKeys' }),
  },
  problems: [],
});
