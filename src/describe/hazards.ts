import { z } from 'zod';

/** The hazard log, docs/safety/hazards.json, and the page that is made of it. */

const severities = ['Minor', 'Significant', 'Considerable', 'Major', 'Catastrophic'] as const;
const likelihoods = ['Very low', 'Low', 'Medium', 'High', 'Very high'] as const;
const rating = z.strictObject({ severity: z.enum(severities), likelihood: z.enum(likelihoods) });

export const hazardLog = z
  .array(
    z.strictObject({
      id: z.string().regex(/^H\d\d$/),
      hazard: z.string(),
      effect: z.string(),
      causes: z.array(z.string()).min(1),
      before: rating,
      control: z.string(),
      after: rating,
      left_to: z.string(),
      tests: z.array(z.strictObject({ file: z.string(), title: z.string() })).min(1),
    }),
  )
  .min(1);

type Rating = z.infer<typeof rating>;

/** The risk, 1 to 5, by likelihood and severity: the matrix that NHS England's guidance on DCB0129 gives. */
const MATRIX: Record<Rating['likelihood'], readonly number[]> = {
  'Very high': [3, 4, 4, 5, 5],
  High: [2, 3, 3, 4, 5],
  Medium: [2, 2, 3, 3, 4],
  Low: [1, 2, 2, 3, 4],
  'Very low': [1, 1, 2, 2, 3],
};

export function riskOf({ severity, likelihood }: Rating): number {
  return MATRIX[likelihood][severities.indexOf(severity)] ?? 5;
}

export function hazardPage(text: string): string {
  const hazards = hazardLog.parse(JSON.parse(text));
  const rated = (one: Rating) => `${one.severity}, ${one.likelihood.toLowerCase()}: **${riskOf(one)}**`;
  return [
    '<!-- Made by `npm run generate` from docs/safety/hazards.json. Change it there. -->',
    '',
    '# Hazard log',
    '',
    'What can harm a patient when this service fails, what stands against it, and the tests that show that it does. A test fails when one',
    'that is named here is gone. Risks are 1 (low) to 5, by severity and likelihood, before and with the control. Your clinical safety',
    'officer reviews them for your deployment: see [Assurance](assurance.md). The log is data, for tools of your own:',
    '',
    '```sh',
    'head -n 12 docs/safety/hazards.json',
    '```',
    '',
    '| | Hazard | Before | With the control |',
    '|---|---|---|---|',
    ...hazards.map(
      ({ id, hazard, before, after }) =>
        `| [${id}](#${id.toLowerCase()}) | ${hazard} | ${riskOf(before)} | ${riskOf(after)} |`,
    ),
    ...hazards.flatMap((one) => [
      '',
      `## ${one.id}`,
      '',
      `**${one.hazard}.** ${one.effect}.`,
      '',
      '| | |',
      '|---|---|',
      `| Causes | ${one.causes.join('; ')} |`,
      `| Risk before | ${rated(one.before)} |`,
      `| Control | ${one.control} |`,
      `| Risk with it | ${rated(one.after)} |`,
      `| Left to others | ${one.left_to} |`,
      '',
      'Shown by:',
      '',
      ...one.tests.map(({ file, title }) => `- \`${file}\`: ${title.replace('%s', '…')}`),
    ]),
    '',
  ].join('\n');
}
