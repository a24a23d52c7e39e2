import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  emailAddress,
  legible,
  line,
  linkAddress,
  moment,
  paragraphs,
  recordId,
  shortened,
  text,
  timeZone,
  webAddress,
  wholeNumber,
} from '../../src/contract/fields.ts';
import { check } from '../../src/contract/validate.ts';

const accepts = (schema: z.ZodType, value: unknown) => check(schema, value).ok;
const loneSurrogate = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit));
/** Any sequence of UTF-16 units that a JSON body can spell, well-formed or not, NUL included. */
const anyText = fc.array(
  fc.oneof(fc.string({ unit: 'binary' }), loneSurrogate, fc.constant('\0'), fc.constant('😀')),
  {
    maxLength: 8,
  },
);

describe('text', () => {
  it('counts code points, refuses NUL and broken Unicode, and nothing else', () => {
    fc.assert(
      fc.property(anyText, fc.nat(1), fc.nat(20), (parts, min, more) => {
        const value = parts.join('');
        const max = min + more;
        const points = Array.from(value);
        const broken = points.some((point) => /^[\ud800-\udfff]$/.test(point));
        const expected = !broken && !points.includes('\0') && points.length >= min && points.length <= max;
        expect(accepts(text({ min, max }), value)).toBe(expected);
      }),
      { numRuns: 3_000 },
    );
  });

  it('takes exactly the longest title that the contract allows, also in emoji', () => {
    const title = text({ min: 1, max: 255 });
    for (const letter of ['a', 'é', '漢', '😀']) {
      expect(accepts(title, letter.repeat(255))).toBe(true);
      expect(accepts(title, letter.repeat(256))).toBe(false);
    }
    expect(accepts(title, '')).toBe(false);
  });

  it('reports one problem with all four fields for any value', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const checked = check(text({ min: 1, max: 3 }), value);
        if (checked.ok) {
          expect(typeof value).toBe('string');
          return;
        }
        expect(checked.problems).toHaveLength(1);
        expect(checked.problems[0]).toEqual({
          code: expect.any(String),
          expected: 'string',
          path: [],
          message: expect.any(String),
        });
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Any character that JSON can spell. Characters that the rules refuse are the most frequent. */
const character = fc.oneof(
  fc.constantFrom(...'a é漢\n\r\t\v\x7f\x85\u200b\u200e\u2028\u202a\u202e\u2066\u2069\u3164\ufeff😀'),
  fc.integer({ min: 1, max: 0x2fff }).map((point) => String.fromCodePoint(point)),
);
const characters = fc.array(character, { maxLength: 6 });
/** The test goes by the number of the character, the code by its Unicode properties. */
const isControl = (one: string) => {
  const unit = one.charCodeAt(0);
  return unit < 0x20 || (unit >= 0x7f && unit < 0xa0);
};
const isBidi = (one: string) => /^[\u202a-\u202e\u2066-\u2069]$/.test(one);

describe('text that other people read', () => {
  it('is refused for a control character, a line break or a bidi override in a line', () => {
    fc.assert(
      fc.property(characters, (parts) => {
        const unfit = parts.some((one) => isControl(one) || isBidi(one) || /[\u2028\u2029]/.test(one));
        expect(accepts(line({ max: 100 }), parts.join(''))).toBe(!unfit);
        expect(legible(parts.join('')) === parts.join('')).toBe(!unfit);
      }),
      { numRuns: 2_000 },
    );
  });

  it('may have line breaks in paragraphs, and nothing else of the kind', () => {
    fc.assert(
      fc.property(characters, (parts) => {
        const unfit = parts.some((one) => (isControl(one) && !/[\r\n]/.test(one)) || isBidi(one));
        expect(accepts(paragraphs({ max: 100 }), parts.join(''))).toBe(!unfit);
      }),
      { numRuns: 2_000 },
    );
  });

  it('shows something where it is required, and may be empty elsewhere', () => {
    const blank = fc.array(fc.constantFrom(...' \u00a0\u2003\u200b\u3164\ufeff\u00ad'), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(blank, fc.constantFrom('a', '漢', '😀', '-'), (parts, shown) => {
        expect(accepts(line({ min: 1, max: 9 }), parts.join(''))).toBe(false);
        expect(accepts(line({ min: 1, max: 9 }), parts.join('') + shown)).toBe(true);
        expect(accepts(line({ max: 9 }), parts.join(''))).toBe(true);
      }),
    );
  });

  it('has one problem, however many rules it breaks', () => {
    for (const value of ['\0\t', '\t', '\u202e', `${'x'.repeat(300)}\t`])
      expect(check(line({ min: 1, max: 255 }), value)).toMatchObject({ ok: false, problems: { length: 1 } });
  });
});

describe('linkAddress', () => {
  it('takes http, https, tel and mailto, and no other scheme, whatever follows', () => {
    const scheme = fc.constantFrom(
      'javascript',
      'data',
      'vbscript',
      'file',
      'sms',
      'ftp',
      'blob',
      'about',
      'x-tel',
      'JavaScript',
    );
    fc.assert(
      fc.property(scheme, characters, (name, rest) => {
        expect(accepts(linkAddress(), `${name}:${rest.join('')}`)).toBe(false);
        expect(accepts(linkAddress(), `${name}://tel:1${rest.join('')}`)).toBe(false);
      }),
    );
    for (const good of ['tel:+44161', 'mailto:a@b.example', 'MAILTO:a@b.example', 'https://a.example/'])
      expect(accepts(linkAddress(), good), good).toBe(true);
  });

  it('holds neither white space nor control characters nor bidi overrides', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('tel:1', 'mailto:a@b.example', 'https://a.example/'),
        characters,
        (start, rest) => {
          const unfit = rest.some((one) => /\s/.test(one) || isControl(one) || isBidi(one));
          expect(accepts(linkAddress(), start + rest.join(''))).toBe(!unfit);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('recordId', () => {
  it('is plain letters, digits and . _ : ~ - after a first letter or digit', () => {
    const letter = fc.oneof(fc.constantFrom(...'abcXYZ019._:~-'), fc.constantFrom(...'/ ,%?#\n\0é@+*"'));
    fc.assert(
      fc.property(fc.array(letter, { maxLength: 8 }), (letters) => {
        const plain = letters.every((one) => 'abcXYZ019._:~-'.includes(one));
        const expected = letters.length > 0 && plain && /[a-zA-Z0-9]/.test(letters[0] as string);
        expect(accepts(recordId(), letters.join(''))).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
    expect(accepts(recordId(), 'a'.repeat(255))).toBe(true);
    expect(accepts(recordId(), 'a'.repeat(256))).toBe(false);
  });
});

describe('webAddress', () => {
  it('takes every ordinary http and https URL', () => {
    fc.assert(
      fc.property(
        fc.webUrl({ validSchemes: ['http', 'https'], withFragments: true, withQueryParameters: true }),
        (url) => {
          expect(accepts(webAddress(), url)).toBe(true);
        },
      ),
    );
    expect(accepts(webAddress(), `https://a.example/${'x'.repeat(2_030)}`)).toBe(true);
    expect(accepts(webAddress(), `https://a.example/${'x'.repeat(2_031)}`)).toBe(false);
  });

  it('takes nothing that leads elsewhere than to an http or https host', () => {
    const part = fc.oneof(
      fc.constantFrom(
        'http',
        'https',
        'HTTP',
        'javascript',
        'data',
        'file',
        'ftp',
        ':',
        '/',
        '//',
        '\\',
        '@',
        '?',
      ),
      fc.constantFrom(
        'a.example',
        '[::1]',
        '127.0.0.1',
        ' ',
        '\n',
        '\t',
        '#',
        '.',
        '%2f',
        '65536',
        ':80',
        'é',
      ),
      fc.string({ unit: 'binary', maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const value = parts.join('');
        if (!accepts(webAddress(), value)) return;
        const url = new URL(value);
        expect(['http:', 'https:']).toContain(url.protocol);
        expect(url.hostname).not.toBe('');
      }),
      { numRuns: 5_000 },
    );
  });

  it('refuses what only looks absolute', () => {
    for (const value of [
      'http:a.example',
      'https:///x',
      '//a.example',
      'http://',
      'https:\\\\a.example',
      'a.example',
    ])
      expect(accepts(webAddress(), value), value).toBe(false);
  });
});

describe('the other fields', () => {
  it('takes a moment exactly when it is RFC 3339 with an offset', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
        (date) => {
          const iso = date.toISOString();
          expect(accepts(moment(), iso)).toBe(true);
          expect(accepts(moment(), iso.replace('Z', '+01:00'))).toBe(true);
          expect(accepts(moment(), iso.replace(/\.\d+/, ''))).toBe(true);
          for (const wrong of [
            iso.replace('Z', ''),
            iso.slice(0, 10),
            iso.replace('T', ' '),
            ` ${iso}`,
            `${iso}\n`,
          ])
            expect(accepts(moment(), wrong), wrong).toBe(false);
        },
      ),
    );
    fc.assert(fc.property(fc.string(), (value) => !accepts(moment(), value)));
    for (const wrong of [
      '2027-02-29T00:00:00Z',
      '2027-02-30T00:00:00Z',
      '2027-04-31T00:00:00Z',
      '2027-01-01T24:00:00Z',
    ])
      expect(accepts(moment(), wrong), wrong).toBe(false);
    expect(accepts(moment(), '2028-02-29T23:59:59+14:00')).toBe(true);
  });

  it('takes every zone that Intl knows, and no offset', () => {
    for (const zone of Intl.supportedValuesOf('timeZone')) expect(accepts(timeZone(), zone), zone).toBe(true);
    for (const zone of ['+01:00', '-05', 'Mars/Olympus', '', 'Europe/London\0', 'x'.repeat(65)])
      expect(accepts(timeZone(), zone), zone).toBe(false);
  });

  it('takes whole numbers within their limits and no other value', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.integer({ min: -3, max: 8 }), fc.double()), (value) => {
        const expected = Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 5;
        expect(accepts(wholeNumber(0, 5), value)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it('says what is missing, and which bound a number breaks that no double counts exactly', () => {
    const said = (value: unknown) => check(z.strictObject({ n: wholeNumber(0, 5) }), value);
    const entry = { expected: 'integer', path: ['n'] };
    for (const [value, problem] of [
      [{}, { code: 'invalid_type', message: 'Required.' }],
      [{ n: -1e20 }, { code: 'too_small', message: 'Must be at least 0.' }],
      [{ n: 1e20 }, { code: 'too_big', message: 'Must be at most 5.' }],
    ] as const)
      expect(said(value)).toEqual({ ok: false, problems: [{ ...entry, ...problem }] });
  });

  it('tells whole numbers from those with a fraction, in what is expected and in words', () => {
    const schema = z.strictObject({ whole: wholeNumber(0, 5), any: z.number().positive().max(100) });
    const said = (value: unknown) => {
      const result = check(schema, value);
      return result.ok ? [] : result.problems.map(({ expected, message }) => `${expected}: ${message}`);
    };
    expect(said({ whole: 'a', any: null })).toEqual([
      'integer: Must be an integer, not a string.',
      'number: Must be a number, not null.',
    ]);
    expect(said({ whole: 1.5, any: 0 })).toEqual([
      'integer: Must be an integer.',
      'number: Must be more than 0.',
    ]);
    expect(said({ whole: 6, any: 101 })).toEqual([
      'integer: Must be at most 5.',
      'number: Must be at most 100.',
    ]);
  });

  it('takes an email address that names one recipient', () => {
    fc.assert(fc.property(fc.emailAddress(), (address) => accepts(emailAddress(), address)));
    for (const wrong of [
      '',
      'a',
      'a@',
      '@a',
      'a@b@c',
      'a b@c',
      'a@b\n',
      `${'a'.repeat(250)}@b.cd`,
      'a,b@c.de',
      '<a@b.cd>',
      'A <a@b.cd>',
      '"a b"@c.de',
      'a@b.cd,c',
      'a@b..cd',
      'a@-b.cd',
      'a;b@c.de',
      'a\u202e@b.cd',
      'a\u200b@b.cd',
    ])
      expect(accepts(emailAddress(), wrong), wrong).toBe(false);
    const [composed, decomposed] = ['zo\u00eb@partner.example', 'zoe\u0308@partner.example'];
    for (const address of [composed, decomposed])
      expect(check(emailAddress(), address)).toEqual({ ok: true, value: composed });
    // Counted as it is stored.
    expect(accepts(emailAddress(), `${'e\u0308'.repeat(249)}@b.cd`)).toBe(true);
  });
});

describe('a reported text that is too long', () => {
  it.each([
    ['abcd', 'abcd'],
    ['abcde', 'abc…'],
    ['😀😀😀😀', '😀😀😀😀'],
    ['a😀😀😀😀', 'a😀😀…'],
    ['😀'.repeat(1_000_000), '😀😀😀…'],
  ])('ends in an ellipsis, and cuts no character in half (%#)', (given, kept) => {
    expect(shortened(given, 4)).toBe(kept);
  });
});
