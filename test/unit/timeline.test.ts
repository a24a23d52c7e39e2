import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mergeStrands, type Strand } from '../../src/domain/events/timeline.ts';

/** Lists that are read a stretch at a time are one list, in order, with everything once, whatever the sizes. */

interface Entry {
  at: number;
  /** Whether it is looked for: what lies between is passed over. */
  isWanted: boolean;
}

const atOf = (at: number) => String(at).padStart(6, '0');

/** As the store reads one: newest first, no further than a stretch, and no more than a page. */
function readStrand(
  list: readonly Entry[],
  n: number,
  from: number,
  stretch: number,
  limit: number,
): Strand<string> {
  const behind = list
    .map((entry, place) => ({ ...entry, place }))
    .filter(({ place }) => place < from)
    .reverse();
  const looked = behind.slice(0, stretch);
  const found = looked
    .filter(({ isWanted }) => isWanted)
    .slice(0, limit)
    .map(({ at, place }) => ({ at: atOf(at), place: [place], item: `${n} ${place} ${atOf(at)}` }));
  const last = found.length === limit ? found.at(-1) : undefined;
  const end = looked.length < stretch ? undefined : looked.at(-1);
  return { from: [from], found, end: last ?? (end && { at: atOf(end.at), place: [end.place] }) };
}

const list = fc
  .array(fc.record({ at: fc.nat(500), isWanted: fc.boolean() }), { maxLength: 30 })
  .map((entries) => entries.toSorted((a, b) => a.at - b.at));

it('pages are in order, miss nothing and repeat nothing', () => {
  fc.assert(
    fc.property(
      fc.array(list, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 12 }),
      (lists, size, stretch) => {
        const seen: string[] = [];
        let places: (readonly number[] | undefined)[] = lists.map(() => [Number.MAX_SAFE_INTEGER]);
        for (let pages = 0; places.some(Boolean); pages++) {
          expect(pages).toBeLessThan(500);
          const strands = places.map((place, n) =>
            place
              ? readStrand(lists[n] ?? [], n, place[0] ?? 0, stretch, size)
              : { from: [0], found: [], end: undefined },
          );
          const page = mergeStrands(strands, size);
          expect(page.items.length).toBeLessThanOrEqual(size);
          seen.push(...page.items);
          places = page.places;
        }
        const wanted = lists.flatMap((entries, n) =>
          entries.flatMap(({ at, isWanted }, place) => (isWanted ? `${n} ${place} ${atOf(at)}` : [])),
        );
        expect(seen.toSorted()).toEqual(wanted.toSorted());
        const times = seen.map((one) => one.slice(-6));
        expect(times).toEqual(times.toSorted().reverse());
      },
    ),
  );
});
