import type { z } from 'zod';
import { ADDRESS_RATE_LIMIT, DEFAULT_RATE_LIMIT, RATE_WINDOW_SECONDS } from '../contract/access.ts';
import { BODY_BYTES_MAX, type Endpoint } from '../contract/endpoint.ts';
import { type JsonSchema, toJsonSchema } from '../contract/json-schema.ts';
import { partnerEndpoints } from '../contract/partner/index.ts';
import { CONTACTS_MAX, REPLAY_EVENTS_MAX, WEBHOOKS_MAX } from '../contract/rules.ts';
import { withCommas } from '../contract/wording.ts';

const whole = (value: unknown) => withCommas(Number(value));

/** Every limit that a call can meet, as one Markdown page: of the service, and of each field that partners send. */
export function limitsReference(): string {
  const operations = Object.values<Endpoint>(partnerEndpoints).filter(
    ({ body, params, query }) => body ?? params ?? query,
  );
  return [
    '<!-- Made by `npm run generate` from src/contract. Change it there. -->',
    '',
    '# Limits',
    '',
    'What a call may hold, and how many there may be. Whatever goes beyond is refused with all problems at once, and never cut:',
    '[Handling errors](../guides/handling-errors.md). Lengths count characters (Unicode code points), not bytes. Names, titles and labels refuse',
    'control characters, line breaks, bidi overrides and white space alone; a description of a submission type may have line breaks.',
    '',
    '## Of calls',
    '',
    '| What | At most | Beyond it |',
    '|---|---|---|',
    `| Requests of a key | ${DEFAULT_RATE_LIMIT} within any ${RATE_WINDOW_SECONDS} seconds, unless another figure was agreed | 429 \`rate_limit_exceeded\` |`,
    `| Requests of an address without a key that works | ${ADDRESS_RATE_LIMIT} within any ${RATE_WINDOW_SECONDS} seconds | 429 \`rate_limit_exceeded\` |`,
    `| The body of a request | ${BODY_BYTES_MAX / 1024} KiB | 413 \`payload_too_large\` |`,
    '| The headers of a request, together | 16 KiB | 431 |',
    `| Webhooks of a partner for one practice group | ${WEBHOOKS_MAX} | 422 \`business_rule_violation\` |`,
    `| Events in one replay | ${whole(REPLAY_EVENTS_MAX)} | 422 \`business_rule_violation\` |`,
    `| Contacts of a partner | ${CONTACTS_MAX} | support cannot add more |`,
    '',
    '## Of fields',
    ...operations.flatMap((endpoint) => ['', ...operationOf(endpoint)]),
    '',
  ].join('\n');
}

function operationOf({ method, path, summary, params, query, body }: Endpoint): string[] {
  const rows = [...rowsOf('path', params), ...rowsOf('query', query), ...rowsOf('body', body)];
  return [
    `### ${summary}`,
    '',
    `\`${method} ${path}\``,
    '',
    '| Field | In | May be |',
    '|---|---|---|',
    ...rows,
  ];
}

function rowsOf(place: string, schema: z.ZodType | undefined): string[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = toJsonSchema(schema, { io: 'input' }) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, field]) => {
    const isNeeded = place !== 'query' && required.includes(name);
    return `| \`${name}\`${isNeeded ? ' (required)' : ''} | ${place} | ${limitsOf(field)} |`;
  });
}

/** In words. What it does not know fails, so that no limit is left out. */
function limitsOf(field: JsonSchema): string {
  const branches = (field.anyOf ?? field.oneOf) as JsonSchema[] | undefined;
  if (branches) return branches.map(limitsOf).join('; or ');
  const types = [field.type].flat().filter((type) => type !== undefined);
  const [type] = types.filter((one) => one !== 'null');
  const orNull = types.includes('null') || (field.enum as unknown[] | undefined)?.includes(null);
  return `${valuesOf(field, type)}${orNull ? ', or null' : ''}`;
}

function valuesOf(field: JsonSchema, type: unknown): string {
  const { minLength = 0, maxLength, minimum, maximum, minItems = 0, maxItems, format } = field;
  const choices = field.enum as unknown[] | undefined;
  if (choices)
    return `one of ${choices
      .filter((choice) => choice !== null)
      .map((choice) => `\`${choice}\``)
      .join(', ')}`;
  if (field.const !== undefined) return `\`${field.const}\``;
  if (type === 'object') return 'an object';
  if (type === 'boolean') return '`true` or `false`';
  if (type === 'integer') return `a whole number from ${whole(minimum)} to ${whole(maximum)}`;
  if (type === 'array') {
    const item = limitsOf(field.items as JsonSchema);
    return `a list of ${whole(minItems)} to ${whole(maxItems)}, each ${item}`;
  }
  if (type !== 'string' || maxLength === undefined)
    throw new Error(`a field without a limit: ${JSON.stringify(field)}`);
  const what = { uri: 'an address, ', 'date-time': 'a moment by RFC 3339, ', email: 'an e-mail address, ' }[
    String(format)
  ];
  return `${what ?? ''}${minLength === maxLength ? '' : `${whole(minLength)} to `}${whole(maxLength)} characters`;
}
