import { isIP } from 'node:net';
import { z } from 'zod';

/**
 * The building blocks of every schema. A limit stands in two places that must agree: the check that refuses, and the
 * JSON Schema keyword that tells readers of the OpenAPI document. Both are written here, side by side, and nowhere else.
 *
 * Lengths count Unicode code points, as JSON Schema's `maxLength` does; zod's own `.max()` counts UTF-16 units and
 * would refuse a title of 200 emoji.
 */

interface TextLimits {
  min?: number;
  max: number;
}

export function text(limits: TextLimits, base = z.string()) {
  const { min = 0, max } = limits;
  return checked(base, limits).meta({ ...(min > 0 && { minLength: min }), maxLength: max });
}

/**
 * Why something failed, as another system reports it. A fact is never refused for its text: NUL and lone surrogates, which PostgreSQL cannot store,
 * become U+FFFD. A longer text is shortened, and ends in `…`, so the JSON Schema has no `maxLength`.
 */
export function reportedText(limits: TextLimits, description: string) {
  const { min = 0, max } = limits;
  return checked(
    z.string().overwrite((value) => shortened(value.toWellFormed().replaceAll('\0', '\ufffd'), max)),
    limits,
  ).meta({
    ...(min > 0 && { minLength: min }),
    description: `${description} At most ${max.toLocaleString('en-GB')} characters: a longer text is shortened, and ends in \`…\`. NUL and lone surrogates become U+FFFD.`,
  });
}

/** Counts code points, and cuts no surrogate pair in half. */
export function shortened(value: string, max: number): string {
  if (value.length <= max) return value;
  // One more code point than fits tells whether the text is too long.
  const start = [...value.slice(0, 2 * (max + 1))];
  return start.length > max ? `${start.slice(0, max - 1).join('')}…` : value;
}

function checked(base: z.ZodString, { min = 0, max }: TextLimits) {
  return base.check((ctx) => {
    const problem = textProblem(ctx.value, min, max);
    if (problem)
      ctx.issues.push({ code: 'custom', input: ctx.value, message: problem.message, params: problem });
  });
}

function textProblem(value: string, min: number, max: number) {
  if (value.includes('\0')) return problem('invalid_format', 'Must not contain the NUL character.');
  if (!value.isWellFormed()) return problem('invalid_format', 'Must be well-formed Unicode.');
  // A string never has more code points than UTF-16 units, so the costly count is needed for long ones only.
  const length = value.length <= max ? value.length : [...value].length;
  if (length > max) return problem('too_big', `Must be at most ${max} characters long.`);
  if (length < min)
    return problem('too_small', `Must be at least ${min} character${min === 1 ? '' : 's'} long.`);
  return undefined;
}

function problem(code: string, message: string) {
  return { code, expected: 'string', message };
}

/** Overrides, embeddings and isolates show a text in another order than it has. Marks such as U+200F are harmless. */
const BIDI = '\\u202a-\\u202e\\u2066-\\u2069';
const LINE_UNFIT = new RegExp(`[\\p{Cc}\\u2028\\u2029${BIDI}]`, 'u');
const PARAGRAPHS_UNFIT = new RegExp(`(?![\\r\\n])\\p{Cc}|[${BIDI}]`, 'u');
const EACH_UNFIT = new RegExp(LINE_UNFIT, 'gu');
const EACH_UNFIT_IN_PARAGRAPHS = new RegExp(PARAGRAPHS_UNFIT, 'gu');
/** Invisible characters, such as a zero-width space, count as white space. */
const BLANK = /^[\s\p{Default_Ignorable_Code_Point}]+$/u;

/** One line of text that other people read: a name, a title, a label. */
export const line = (limits: TextLimits) =>
  readable(limits, LINE_UNFIT, 'Must not contain control characters, line breaks or bidi overrides.');

/** Text of several lines that other people read: a description, a reason. */
export const paragraphs = (limits: TextLimits) =>
  readable(
    limits,
    PARAGRAPHS_UNFIT,
    'Must not contain control characters other than line breaks, or bidi overrides.',
  );

function readable(limits: TextLimits, unfit: RegExp, error: string) {
  const params = { code: 'invalid_format', expected: 'string' };
  const { min = 0, max } = limits;
  return text(limits)
    .refine((value) => !unfit.test(value), { error, params, abort: true })
    .refine((value) => min === 0 || !BLANK.test(value), { error: 'Must not be only white space.', params })
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max });
}

/** A line from a source that must not be refused: each unfit character becomes the replacement character. */
export const legible = (value: string): string => value.replace(EACH_UNFIT, '\ufffd');
/** The same for a text of several lines. */
export const legibleParagraphs = (value: string): string => value.replace(EACH_UNFIT_IN_PARAGRAPHS, '\ufffd');

/** An identifier somebody else chose, such as a form's: any text, compared but never interpreted. */
export const reference = () => text({ min: 1, max: 255 });

const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:~-]*$/;

/** An identifier that the operator may choose for a record of ours: it travels in paths and headers, so it is plain. */
export const recordId = () =>
  text({ min: 1, max: 255 })
    .refine((value) => ID_PATTERN.test(value), {
      error: 'Must start with a letter or digit and hold only letters, digits and . _ : ~ -',
      params: { code: 'invalid_format', expected: 'string' },
    })
    .meta({ minLength: 1, maxLength: 255, pattern: ID_PATTERN.source });

export const webAddress = () => address(isWebAddress, 'Must be an absolute http or https URL.');

/** A link for patients may lead to a page, a telephone number or an email address. */
export const linkAddress = () =>
  address(
    (value) => isWebAddress(value) || LINK.test(value),
    'Must be an absolute http or https URL, or a tel or mailto URL.',
  );

const LINK = new RegExp(`^(?:tel|mailto):[^\\s\\p{Cc}${BIDI}]+$`, 'iu');

function address(fits: (value: string) => boolean, error: string) {
  return text({ min: 1, max: 2048 })
    .refine(fits, { error, params: { code: 'invalid_format', expected: 'string' } })
    .meta({ minLength: 1, maxLength: 2048, format: 'uri' });
}

const WEB = new RegExp(`^https?://[^/\\\\\\s][^\\s\\p{Cc}${BIDI}]*$`, 'iu');

/**
 * `http:example.org` and `https:///x` parse as URLs too, yet nobody would call them absolute: require `//` and a host.
 * The parser also drops line breaks and trims spaces before it looks; what is stored is the text as sent, so it may
 * not hold any.
 */
function isWebAddress(value: string): boolean {
  return WEB.test(value) && URL.canParse(value);
}

/** The rule of browsers. An address names one recipient: with a comma, a quote or a bracket, a mail program could read several. */
const EMAIL = z.email({ pattern: z.regexes.html5Email });
/** Letters of other scripts may stand where ASCII letters may (RFC 6531). */
const INTERNATIONAL = /(?!\p{ASCII})[\p{L}\p{M}\p{N}]/gu;

/** What looks alike is one address: `é` may come as one character or as two, and addresses are compared as they are stored. */
export const emailAddress = () =>
  text({ min: 3, max: 254 }, z.string().normalize('NFC'))
    .refine((value) => EMAIL.safeParse(value.replace(INTERNATIONAL, 'x')).success, {
      error: 'Must be an email address.',
      params: { code: 'invalid_format', expected: 'string' },
    })
    .meta({ minLength: 3, maxLength: 254, format: 'email' });

/** Where calls come from. IPv4 inside IPv6 is told as IPv4, so that is how it is to be written. */
export const addressRange = () =>
  text({ min: 2, max: 64 })
    .refine(isAddressRange, {
      error: 'Must be an IP address, or a range such as 203.0.113.0/24 or 2001:db8::/32.',
      params: { code: 'invalid_format', expected: 'string' },
    })
    .meta({ minLength: 2, maxLength: 64, examples: ['203.0.113.0/24'] });

function isAddressRange(value: string): boolean {
  const [address = '', bits, ...more] = value.split('/');
  const family = /^::ffff:|%/i.test(address) ? 0 : isIP(address);
  const bitsMax = family === 6 ? 128 : 32;
  return family > 0 && more.length === 0 && (bits === undefined || isUpTo(bits, bitsMax));
}

const isUpTo = (digits: string, max: number) => /^(0|[1-9]\d{0,2})$/.test(digits) && Number(digits) <= max;

/** A union would try each, and report what is wrong with neither: what is meant is plain to see. */
export function decided<U extends z.ZodType>(union: U, meant: (value: unknown) => z.ZodType): U {
  union._zod.run = (payload, context) => meant(payload.value)._zod.run(payload, context);
  return union;
}

const INT32 = { min: -2_147_483_648, max: 2_147_483_647 };
/** `-0` is `0`, so that equal places compare and hash alike. */
const plusZero = (value: number) => value + 0;

/** A place in an order, as partners send it. */
export const place = () => wholeNumber(INT32.min, INT32.max).overwrite(plusZero);

/** A place in an order, as the practice software may have it: fractions too. */
export const anyPlace = () => z.number().min(INT32.min).max(INT32.max).overwrite(plusZero);

/** A number beyond what a double counts exactly breaks zod's own bound and ours: one problem, so one entry. */
export const wholeNumber = (min: number, max: number) =>
  z
    .int({
      abort: true,
      error: ({ code }) => {
        if (code === 'too_big') return `Must be at most ${max}.`;
        return code === 'too_small' ? `Must be at least ${min}.` : undefined;
      },
    })
    .min(min)
    .max(max);

/** Requests a minute. */
export const rateLimit = () => wholeNumber(1, 100_000);

const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** A moment as people send it: RFC 3339 with any offset. */
export const moment = () =>
  z
    .string()
    .refine(isMoment, {
      error: 'Must be an RFC 3339 timestamp such as 2026-11-14T08:00:00.000Z.',
      params: { code: 'invalid_format', expected: 'string' },
    })
    .meta({ format: 'date-time', maxLength: 35, examples: ['2026-11-14T08:00:00.000Z'] });

/**
 * The parser reads 30 February as 2 March; whoever sends it meant something else. And what is in the last hours of 9999 elsewhere is in 10000 in UTC,
 * for which there is no timestamp to answer with.
 */
function isMoment(value: string): boolean {
  const [, year, month, day] = TIMESTAMP.exec(value) ?? [];
  const inUtc = new Date(value).getUTCFullYear();
  if (day === undefined || !(inUtc >= 0 && inUtc <= 9_999)) return false;
  return new Date(`${year}-${month}-${day}T00:00:00Z`).getUTCDate() === Number(day);
}

/** A day as people send it. */
export const day = () =>
  z
    .string()
    .refine((value) => /^(?!0000)\d{4}-\d\d-\d\d$/.test(value) && isMoment(`${value}T00:00:00Z`), {
      error: 'Must be a day such as 2026-11-14.',
      params: { code: 'invalid_format', expected: 'string' },
    })
    .meta({ format: 'date', maxLength: 10, examples: ['2026-11-14'] });

/** A moment as the service sends it: RFC 3339, UTC, milliseconds. */
export const timestamp = () =>
  z.string().meta({ format: 'date-time', examples: ['2026-11-14T08:00:00.000Z'] });

export const timeZone = () =>
  text({ min: 1, max: 64 })
    .refine(isTimeZone, {
      error: 'Must be an IANA time zone such as Europe/London.',
      params: { code: 'invalid_value', expected: 'string' },
    })
    .meta({ minLength: 1, maxLength: 64, examples: ['Europe/London'] });

function isTimeZone(value: string): boolean {
  // Offsets such as "+01:00" are accepted by Intl but know no daylight saving; a practice lives in a place.
  if (!/^[A-Z]/.test(value) || /\/[a-z]/.test(value)) return false;
  try {
    // Intl also takes names in other letters; partners' libraries may not.
    const known = new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
    return known === value || known.toLowerCase() !== value.toLowerCase();
  } catch {
    return false;
  }
}
