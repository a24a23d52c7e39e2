import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  assigneeTypes,
  priorities,
  requestTypes,
  type SubmissionTypePatch,
  submissionTypePatch,
} from '../../src/contract/partner/submission-types.ts';
import { etagOf, ifMatchHolds } from '../../src/domain/practices/etag.ts';
import {
  applyPatch,
  type Directory,
  type StoredSubmissionType,
} from '../../src/domain/practices/submission-type.ts';

const NOW = '2026-11-16T10:00:00.000Z';
const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
/** Few values, so that a patch often repeats what is there. */
const word = fc.constantFrom('a', 'b', 'c');

const settable = {
  title: word,
  description: orNull(word),
  in_hours: fc.boolean(),
  out_of_hours: fc.boolean(),
  suspended: fc.boolean(),
  form_id: orNull(word),
  external_url: orNull(fc.constantFrom('https://a.example', 'https://b.example')),
  external_url_name: orNull(word),
  type: orNull(fc.constantFrom(...requestTypes)),
  default_priority: fc.constantFrom(...priorities),
  daily_limit: orNull(fc.nat(2)),
  patient_eligibility_check: fc.boolean(),
  assignee_id: orNull(word),
  assignee_type: orNull(fc.constantFrom(...assigneeTypes)),
  order: fc.nat(2),
};
const patchOf: fc.Arbitrary<SubmissionTypePatch> = fc.record(settable, { requiredKeys: [] });
const stored: fc.Arbitrary<StoredSubmissionType> = fc
  .record({ ...settable, order: orNull(fc.nat(2)), version: fc.integer({ min: 1, max: 1_000_000 }) })
  .map((fields) =>
    Object.freeze({
      ...fields,
      id: 'type-1',
      pathway_id: 'pathway-1',
      practice_group_id: 'group-1',
      created_at: '2026-01-01T00:00:00.000Z',
      updated_at: '2026-01-02T00:00:00.000Z',
    }),
  );
/** A group that knows form a and b, the person a and the team b. */
const directory: Directory = {
  hasForm: (id) => id === 'a' || id === 'b',
  hasAssignee: (type, id) => (type === 'Admin' && id === 'a') || (type === 'AdminTeam' && id === 'b'),
};
const everything: Directory = { hasForm: () => true, hasAssignee: () => true };
/** Without rules in the way: only what merging means. */
const free = (patch: SubmissionTypePatch): SubmissionTypePatch => {
  const { assignee_id: _i, assignee_type: _t, external_url_name: _n, external_url: _u, ...rest } = patch;
  return rest;
};

const INNER = ['version', 'updated_at'];
const differing = (a: object, b: object) =>
  Object.keys(a).filter((field) => a[field as never] !== b[field as never] && !INNER.includes(field));

describe('applyPatch merges', () => {
  it('covers every field that the contract lets a partner set', () => {
    expect(Object.keys(settable).sort()).toEqual(Object.keys(submissionTypePatch.shape).sort());
  });

  it('sets what the patch names, null included, and leaves the rest alone', () => {
    fc.assert(
      fc.property(stored, patchOf, (current, patch) => {
        const result = applyPatch(current, patch, everything, NOW);
        if (result.outcome !== 'changed') return;
        for (const [field, value] of Object.entries(patch)) expect(result.next[field as never]).toBe(value);
        for (const field of Object.keys(current).filter((name) => !(name in patch) && !INNER.includes(name)))
          expect(result.next[field as never]).toBe(current[field as never]);
        expect(Object.keys(result.next).sort()).toEqual(Object.keys(current).sort());
      }),
      { numRuns: 1_000 },
    );
  });

  it('changes nothing exactly when no value differs; else counts one version and takes the time', () => {
    fc.assert(
      fc.property(stored, patchOf, (current, patch) => {
        const result = applyPatch(current, free(patch), everything, NOW);
        const same = Object.entries(free(patch)).every(([field, value]) => current[field as never] === value);
        expect(result.outcome).toBe(same ? 'unchanged' : 'changed');
        if (result.outcome !== 'changed') return;
        expect(result.next.version).toBe(current.version + 1);
        expect(result.next.updated_at).toBe(NOW);
        expect(result.next.created_at).toBe(current.created_at);
      }),
      { numRuns: 1_000 },
    );
  });

  it('tells exactly what changed: `after` alone makes the change, `before` alone takes it back', () => {
    fc.assert(
      fc.property(stored, patchOf, (current, patch) => {
        const result = applyPatch(current, patch, everything, NOW);
        if (result.outcome !== 'changed') return;
        const changed = differing(current, result.next).sort();
        expect(Object.keys(result.before).sort()).toEqual(changed);
        expect(Object.keys(result.after).sort()).toEqual(changed);
        expect({ ...current, ...result.after, version: 0, updated_at: '' }).toEqual({
          ...result.next,
          version: 0,
          updated_at: '',
        });
        expect(differing(current, { ...result.next, ...result.before })).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is idempotent: the same patch again changes nothing', () => {
    fc.assert(
      fc.property(stored, patchOf, (current, patch) => {
        const once = applyPatch(current, patch, directory, NOW);
        if (once.outcome !== 'changed') return;
        expect(applyPatch(once.next, patch, directory, '2027-01-01T00:00:00.000Z')).toEqual({
          outcome: 'unchanged',
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it('gives for two patches in a row what the two merged into one give', () => {
    fc.assert(
      fc.property(stored, patchOf, patchOf, (current, first, second) => {
        const patched = (from: StoredSubmissionType, patch: SubmissionTypePatch) => {
          const result = applyPatch(from, free(patch), everything, NOW);
          return result.outcome === 'changed' ? result.next : from;
        };
        const inTurn = patched(patched(current, first), second);
        const atOnce = patched(current, { ...first, ...second });
        expect(differing(inTurn, atOnce)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('takes {} on any state, even on one that breaks every rule', () => {
    fc.assert(
      fc.property(stored, (current) => {
        const nothing: Directory = { hasForm: () => false, hasAssignee: () => false };
        expect(applyPatch(current, {}, nothing, NOW)).toEqual({ outcome: 'unchanged' });
      }),
    );
  });
});

describe('applyPatch refuses', () => {
  /** The four rules, each as one sentence about the merged result. */
  const sentences = {
    assignee_pair: {
      fields: ['assignee_id', 'assignee_type'],
      holds: (type: StoredSubmissionType) =>
        [type.assignee_id, type.assignee_type].filter(isSet).length !== 1,
    },
    assignee_unknown: {
      fields: ['assignee_id', 'assignee_type'],
      holds: (type: StoredSubmissionType) =>
        !isSet(type.assignee_id) ||
        !isSet(type.assignee_type) ||
        ['Admin a', 'AdminTeam b'].includes(`${type.assignee_type} ${type.assignee_id}`),
    },
    form_unknown: {
      fields: ['form_id'],
      holds: (type: StoredSubmissionType) => [null, 'a', 'b'].includes(type.form_id),
    },
    external_url_name_without_url: {
      fields: ['external_url', 'external_url_name'],
      holds: (type: StoredSubmissionType) => !isSet(type.external_url_name) || isSet(type.external_url),
    },
  };
  const isSet = (value: unknown) => value !== null;

  it('exactly when a rule that the patch touches does not hold on the merged result', () => {
    fc.assert(
      fc.property(stored, patchOf, (current, patch) => {
        const merged = { ...current, ...patch } as StoredSubmissionType;
        const broken = Object.entries(sentences)
          .filter(([, { fields }]) => fields.some((field) => field in patch))
          .filter(([, { holds }]) => !holds(merged))
          .map(([rule]) => rule);
        const result = applyPatch(current, patch, directory, NOW);
        expect(result.outcome === 'refused').toBe(broken.length > 0);
        if (result.outcome === 'refused') expect(broken).toContain(result.rule);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('ifMatchHolds', () => {
  const tagText = fc
    .array(fc.constantFrom('0', '1', '7', 'x', ',', ' ', '-', '*', "'"), { maxLength: 5 })
    .map((letters) => letters.join(''));
  const tag = fc.record({ weak: fc.boolean(), text: fc.oneof(tagText, fc.constantFrom('1', '7', '17')) });
  const space = fc.constantFrom('', ' ', '\t', '  ');

  it('holds without a header and for *', () => {
    fc.assert(
      fc.property(fc.nat(), space, space, (version, before, after) => {
        expect(ifMatchHolds(undefined, etagOf(version))).toBe(true);
        expect(ifMatchHolds(`${before}*${after}`, etagOf(version))).toBe(true);
      }),
    );
  });

  it('holds for a list exactly when the strong tag is in it', () => {
    fc.assert(
      fc.property(fc.array(tag, { minLength: 1, maxLength: 5 }), space, (tags, gap) => {
        const header = tags.map(({ weak, text }) => `${weak ? 'W/' : ''}"${text}"`).join(`${gap},${gap}`);
        const expected = tags.some(({ weak, text }) => !weak && text === '7');
        expect(ifMatchHolds(header, etagOf(7))).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it('never holds for text that only looks a little like the tag', () => {
    for (const header of ['', '7', "'7'", '"7', '7"', '"07"', '"7 "', 'W/"7"', 'w/"7"', '"*"', '**'])
      expect(ifMatchHolds(header, etagOf(7)), header).toBe(false);
  });
});
