import fc from 'fast-check';
import { roleNames, scopeNames } from '../../src/contract/access.ts';
import { eventNames } from '../../src/contract/event-payloads.ts';
import { events } from '../../src/contract/events.ts';
import { assigneeTypes, priorities, requestTypes } from '../../src/contract/partner/submission-types.ts';

/** Bodies: good ones of every operation, and every way that we know to spoil them. */

/** Records that exist while the requests are sent, so that some calls get all the way in. */
export interface Known {
  groups: string[];
  types: string[];
  partners: string[];
  keys: string[];
  networks: string[];
  operators: string[];
  jobs: string[];
  events: string[];
  webhooks: string[];
  deliveries: string[];
}

export const moments = fc.oneof(
  fc
    .date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  fc.constantFrom(
    '2026-11-14T08:00:00.000Z',
    '2027-02-30T00:00:00Z',
    '2027-02-28T24:00:00Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+14:00',
    '9999-12-31T23:59:59.999999999Z',
    '9999-12-31T23:59:59-23:59',
    '2027-01-01T00:00:60Z',
    '2027-01-01T00:00:00+99:99',
    '2027-01-01t00:00:00z',
    '2027-01-01',
    'now',
  ),
);

export const nastyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    '\udc00x',
    '\u2028',
    '\ufeff',
    "'; DROP TABLE partners; --",
    '%00',
  ),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    '#{1}',
    '$1',
    '{{7*7}}',
    '../../etc/passwd',
    '😀'.repeat(255),
  ),
  fc.integer({ min: 250, max: 5_100 }).map((length) => 'x'.repeat(length)),
);

const title = fc.oneof(
  { weight: 12, arbitrary: fc.string({ minLength: 1, maxLength: 40 }) },
  { weight: 1, arbitrary: nastyText },
);
const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
const some = (fields: Record<string, fc.Arbitrary<unknown>>, required: string[] = []) =>
  fc.record(fields, { requiredKeys: required });

const patchFields = {
  title,
  description: orNull(title),
  in_hours: fc.boolean(),
  out_of_hours: fc.boolean(),
  suspended: fc.boolean(),
  form_id: orNull(fc.constantFrom('form-1', 'form-1', 'form-none', '\0')),
  external_url: orNull(fc.oneof({ weight: 6, arbitrary: fc.webUrl() }, { weight: 1, arbitrary: nastyText })),
  external_url_name: orNull(title),
  type: orNull(fc.constantFrom(...requestTypes)),
  default_priority: fc.constantFrom(...priorities),
  daily_limit: orNull(fc.integer({ min: 0, max: 100_000 })),
  patient_eligibility_check: fc.boolean(),
  assignee_id: orNull(fc.constantFrom('ann', 'desk', 'nobody')),
  assignee_type: orNull(fc.constantFrom(...assigneeTypes)),
  order: fc.integer({ min: 0, max: 1_000_000 }),
};

const clockTime = fc.constantFrom('00:00', '08:00', '12:30', '23:59', '24:00', '24:01', '8:00');
const openingHours = fc.oneof(
  fc.constantFrom({}, { mon: [['08:00', '18:30']] }, { sat: [['00:00', '24:00']], sun: [] }),
  fc.dictionary(
    fc.constantFrom('mon', 'tue', 'sun', 'someday'),
    fc.array(fc.tuple(clockTime, clockTime), { maxLength: 3 }),
    { maxKeys: 3 },
  ),
);
const group = {
  name: title,
  ods_code: orNull(title),
  timezone: fc.constantFrom(
    'Europe/London',
    'Europe/London',
    'America/St_Johns',
    'Asia/Kathmandu',
    'UTC',
    'GMT+1',
    'Mars/Olympus',
    'Etc/GMT+12',
    'EST',
  ),
  address: orNull(some({ line_1: orNull(title), town: orNull(title), postcode: orNull(title) })),
  opening_hours: openingHours,
};

/** Mostly one that is as specified. */
function eventOf(known: Known): fc.Arbitrary<unknown> {
  const further = {
    none: {},
    failure: { failure_reason: title, code: title },
    resource: { resource: title, resource_id: title },
  };
  return fc.constantFrom(...eventNames).chain((event) =>
    some(
      {
        object: fc.constant(events[event].object),
        id: title,
        practice_group_id: fc.constantFrom(...known.groups, ...known.groups, ...known.groups, 'none'),
        event: fc.constant(event),
        ...further[events[event].fields],
      },
      ['object', 'id', 'practice_group_id', 'event', ...Object.keys(further[events[event].fields])],
    ),
  );
}

const hookUrl = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      'https://partner.example/hook',
      'https://partner.example:8443/?token=x',
      'http://127.0.0.1:4000/',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'http://partner.example/',
      'https://10.0.0.1/',
      'https://u:p@partner.example/',
      'https://0x7f.1/#x',
      'https://[::ffff:a00:1]/',
    ),
  },
  { weight: 1, arbitrary: nastyText },
);
const someEvents = fc.array(fc.constantFrom(...eventNames), { minLength: 1, maxLength: 3 });

const agreement = {
  version: title,
  document_url: hookUrl,
  signatory: title,
  signed_at: moments,
  ends_at: moments,
  rate_limit_per_minute: fc.integer({ min: 1, max: 100_000 }),
  sla: fc.oneof(
    title,
    fc.record({ availability_percent: fc.double({ min: 0, max: 100 }) }),
    fc.record({ latency_ms: fc.record({ p95: fc.double() }) }),
  ),
};

/** A body that the operation would mostly take. */
function goodBody(operationId: string, known: Known): fc.Arbitrary<unknown> {
  const newId = fc.oneof(fc.uuid(), fc.uuid(), fc.constantFrom('taken', 'type-1', 'fuzz-hub'), nastyText);
  const of = (values: string[]) => fc.constantFrom(...values);
  switch (operationId) {
    case 'updateSubmissionType':
      return some(patchFields);
    case 'createPracticeGroup':
      return some({ id: newId, ...group }, ['name']);
    case 'updatePracticeGroup':
      return some(group);
    case 'createNetwork':
    case 'updateNetwork': {
      const caps = {
        scopes: orNull(fc.array(fc.constantFrom(...scopeNames), { minLength: 1, maxLength: 7 })),
        partner_ids: orNull(fc.array(of([...known.partners, 'none']), { minLength: 1, maxLength: 3 })),
      };
      if (operationId === 'updateNetwork') return some({ name: title, ...caps });
      return some(
        {
          name: title,
          practice_group_ids: fc.array(of([...known.groups, 'none']), { maxLength: 4 }),
          ...caps,
        },
        ['name', 'practice_group_ids'],
      );
    }
    case 'createPartner':
      return some({ name: title, contact_email: fc.oneof(fc.emailAddress(), fc.emailAddress(), nastyText) }, [
        'name',
        'contact_email',
      ]);
    case 'signAgreement':
      return some(agreement);
    case 'createAgreement':
      return some(agreement, ['version', 'signatory', 'signed_at']);
    case 'updateAgreement': {
      const { signed_at: _signed, ...changeable } = agreement;
      return some(changeable);
    }
    case 'issueKey':
      return some(
        {
          partner_id: of([...known.partners, 'none']),
          practice_group_id: of([...known.groups, 'none']),
          scopes: fc.array(fc.constantFrom(...scopeNames), { minLength: 1, maxLength: 7 }),
          expires_at: orNull(moments),
          rate_limit_per_minute: orNull(fc.integer({ min: 1, max: 100_000 })),
        },
        ['partner_id', 'practice_group_id', 'scopes'],
      );
    case 'rotateKey':
      return some({ overlap_seconds: fc.integer({ min: 0, max: 30 * 24 * 3600 }) });
    case 'createSubmissionType':
      return some({ ...patchFields, id: newId, pathway_id: title }, ['pathway_id', 'title']);
    case 'putForm':
      return some({ title }, ['title']);
    case 'putAssignee':
      return some({ name: title }, ['name']);
    case 'createFormSubmission':
      return some({ submission_type_id: of([...known.types, 'none']), id: newId }, ['submission_type_id']);
    case 'publishEvents':
      return fc.oneof(
        eventOf(known),
        fc.array(eventOf(known), { minLength: 1, maxLength: 5 }).map((all) => ({ events: all })),
      );
    case 'reportEhrHealth':
      return some({ status: fc.constantFrom('healthy', 'unhealthy', 'unknown') }, ['status']);
    case 'createWriteToRecordJob':
      return some({ practice_group_id: of([...known.groups, 'none']), resource: title, resource_id: title }, [
        'practice_group_id',
        'resource',
        'resource_id',
      ]);
    case 'failWriteToRecordJob':
      return some({ permanent: fc.boolean() }, ['permanent']);
    case 'createWebhook':
      return some({ url: hookUrl, event_types: someEvents, description: orNull(title) }, ['url']);
    case 'updateWebhook':
      return some({
        url: hookUrl,
        event_types: someEvents,
        description: orNull(title),
        status: fc.constantFrom('active', 'active', 'paused', 'disabled'),
      });
    case 'testWebhook':
    case 'triggerTestEvent':
      return some({ event: fc.constantFrom(...eventNames) }, ['event']);
    case 'replayWebhook':
      return fc.oneof(
        some({ since: moments }, ['since']),
        some({ event_ids: fc.array(of([...known.events, ...known.events, 'none']), { maxLength: 3 }) }),
      );
    case 'createOperator':
      return some({ name: title, role: fc.constantFrom(...roleNames), label: title }, ['name', 'role']);
    case 'updateOperator':
      return some({ label: fc.option(title) });
    default:
      return fc.constant({});
  }
}

const nastyNumber = fc.constantFrom(
  '1e400',
  '-1e400',
  '1e308',
  '-0',
  '0.5',
  '2147483648',
  '9007199254740993',
  '1E2',
  '00',
  '+1',
  '.5',
  '0x10',
  'NaN',
);
const nastyValue = fc.oneof(
  fc.jsonValue().map((value) => JSON.stringify(value)),
  nastyNumber,
  fc.constantFrom(
    'null',
    'true',
    '"\\ud800"',
    '"\\u0000"',
    '[]',
    '{}',
    '[[[[]]]]',
    '""',
    'undefined',
    '"\\x"',
  ),
  fc.integer({ min: 1, max: 20_000 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  fc.integer({ min: 1, max: 3_000 }).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
);
const fieldName = fc.oneof(
  fc.constantFrom(
    ...Object.keys(patchFields),
    'id',
    'pathway_id',
    'forms_submitted_today',
    'created_at',
    'version',
  ),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toJSON',
    '',
    'practice_group_id',
    'scopes',
    'expires_at',
    'key',
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
);

/** Takes the text of a JSON object and returns bytes that are still, or no longer, one. */
type Spoil = (text: string) => Buffer | string;
const spoil: fc.Arbitrary<Spoil> = fc.oneof(
  // Another field, known or not, with any value; a known one now stands there twice.
  fc.tuple(fieldName, nastyValue).map(
    ([name, value]): Spoil =>
      (text) =>
        `${text.slice(0, -1)}${text === '{}' ? '' : ','}${JSON.stringify(name)}:${value}}`,
  ),
  fc.array(fc.tuple(fieldName, nastyValue), { maxLength: 30 }).map(
    (fields): Spoil =>
      () =>
        `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`,
  ),
  fc.nat(100).map(
    (percent): Spoil =>
      (text) =>
        text.slice(0, Math.floor((text.length * percent) / 100)),
  ),
  fc.tuple(fc.nat(100), fc.uint8Array({ minLength: 1, maxLength: 4 })).map(
    ([percent, bytes]): Spoil =>
      (text) => {
        const whole = Buffer.from(text);
        const at = Math.floor((whole.length * percent) / 100);
        return Buffer.concat([whole.subarray(0, at), bytes, whole.subarray(at)]);
      },
  ),
  nastyValue.map(
    (value): Spoil =>
      () =>
        value,
  ),
  fc.uint8Array({ maxLength: 200 }).map(
    (bytes): Spoil =>
      () =>
        Buffer.from(bytes),
  ),
  fc.constantFrom<Spoil>(
    (text) => `\ufeff${text}`,
    (text) => `[${text}]`,
    (text) => `${text}${text}`,
    (text) => `${text} // comment`,
    (text) => text.replaceAll('"', "'"),
    (text) => Buffer.from(text, 'utf16le'),
    (text) =>
      Buffer.concat([
        Buffer.from(`${text.slice(0, -1)},"title":"`),
        Buffer.from([0xc3, 0x28]),
        Buffer.from('"}'),
      ]),
    (text) => `${text.slice(0, -1)}${' '.repeat(70_000)}}`,
    (text) => `${text}${' '.repeat(60_000)}`,
    () => `{"title":"${'x'.repeat(65_000)}"}`,
    () => `{${Array.from({ length: 6_000 }, (_, n) => `"k${n}":1`).join()}}`,
    () => `{"practice_group_ids":[${'1,'.repeat(20_000)}1],"name":"n"}`,
    () => `{"events":[${'{},'.repeat(900)}{}]}`,
    () => '',
  ),
);

export function anyBody(operationId: string, known: Known): fc.Arbitrary<Buffer> {
  const good = goodBody(operationId, known).map((value) => JSON.stringify(value));
  return fc.oneof(
    { weight: 2, arbitrary: good.map((text) => Buffer.from(text)) },
    {
      weight: 1,
      arbitrary: fc.tuple(good, spoil).map(([text, spoiled]) => Buffer.from(spoiled(text) as string)),
    },
  );
}
