import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PAGE_SIZE_DEFAULT } from '../../src/contract/page.ts';
import { ValidationProblem } from '../../src/contract/problems.ts';
import { byId, type Keyset, readPage } from '../../src/store/page.ts';

interface Entry {
  rank: number;
  id: string;
}

const byRank: Keyset<Entry> = { types: ['number', 'string'], keyOf: ({ rank, id }) => [rank, id] };
const compare = (a: Entry, b: Entry) =>
  a.rank - b.rank || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id));

/** A table that answers as PostgreSQL would. */
const table = (rows: readonly Entry[]) => (after: readonly (string | number | null)[], limit: number) => {
  const [rank, id] = after;
  const left =
    rank === null ? rows : rows.filter((row) => compare(row, { rank: Number(rank), id: String(id) }) > 0);
  return Promise.resolve([...left].sort(compare).slice(0, limit));
};

const entries = fc.uniqueArray(
  fc.record({ rank: fc.nat(3), id: fc.string({ unit: 'grapheme', maxLength: 6 }) }),
  {
    selector: ({ rank, id }) => `${rank} ${id}`,
    maxLength: 60,
  },
);

describe('readPage', () => {
  it('walks every entry exactly once, in order, at any page size', async () => {
    await fc.assert(
      fc.asyncProperty(
        entries,
        fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
        async (rows, size) => {
          const seen: Entry[] = [];
          let cursor: string | undefined;
          do {
            const page = await readPage({ page_size: size, cursor }, byRank, table(rows));
            expect(page.count).toBe(page.data.length);
            expect(page.count).toBeLessThanOrEqual(size ?? PAGE_SIZE_DEFAULT);
            // Only a page that is followed by another has a cursor, and such a page is full.
            if (page.next_cursor !== null) expect(page.count).toBe(size ?? PAGE_SIZE_DEFAULT);
            seen.push(...page.data);
            cursor = page.next_cursor ?? undefined;
          } while (cursor !== undefined);
          expect(seen).toEqual([...rows].sort(compare));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('misses and repeats nothing that stays, while rows come and go in between', async () => {
    await fc.assert(
      fc.asyncProperty(entries, fc.array(fc.tuple(entries, fc.nat(5))), async (rows, changes) => {
        const name = ({ rank, id }: Entry) => `${rank} ${id}`;
        const present = new Map(rows.map((row) => [name(row), row]));
        const stays = new Set(present.keys());
        const seen: string[] = [];
        let cursor: string | undefined;
        for (let pageNumber = 0; pageNumber === 0 || cursor !== undefined; pageNumber++) {
          const page = await readPage({ page_size: 4, cursor }, byRank, table([...present.values()]));
          seen.push(...page.data.map(name));
          cursor = page.next_cursor ?? undefined;
          const [added, removed] = changes[pageNumber] ?? [[], 0];
          for (const gone of [...present.keys()].slice(0, removed)) {
            present.delete(gone);
            stays.delete(gone);
          }
          for (const row of added) if (!seen.includes(name(row))) present.set(name(row), row);
        }
        expect(new Set(seen).size).toBe(seen.length);
        for (const row of stays) expect(seen).toContain(row);
      }),
      { numRuns: 300 },
    );
  });

  it('refuses every cursor that it did not make, and hands the query nothing but values of the right type', async () => {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '').toString('base64url');
    const forged = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      fc.jsonValue().map(encode),
      fc
        .array(fc.oneof(fc.integer(), fc.double(), fc.string({ unit: 'binary' }), fc.constant(null)), {
          maxLength: 3,
        })
        .map(encode),
      fc.tuple(fc.nat(), fc.constantFrom('a\0b', '\ud800', '')).map(encode),
    );
    await fc.assert(
      fc.asyncProperty(forged, async (cursor) => {
        let given: readonly unknown[] | undefined;
        try {
          await readPage({ cursor }, byRank, (after) => {
            given = after;
            return Promise.resolve([]);
          });
        } catch (error) {
          expect(error).toBeInstanceOf(ValidationProblem);
          expect((error as ValidationProblem).entries[0]?.path).toEqual(['cursor']);
          return;
        }
        const [rank, id] = given as [number, string];
        expect(Number.isSafeInteger(rank)).toBe(true);
        expect(id.isWellFormed()).toBe(true);
        expect(id).not.toContain('\0');
        expect(given).toHaveLength(2);
      }),
      { numRuns: 1_000 },
    );
  });

  it('makes cursors that can stand in an address without escaping, for any ID', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 255 }), async (id) => {
        fc.pre(!id.includes('\0'));
        const first = await readPage({ page_size: 1 }, byId, () => Promise.resolve([{ id }, { id }]));
        expect(first.next_cursor).toMatch(/^[A-Za-z0-9_-]+$/);
        await readPage({ cursor: first.next_cursor ?? '' }, byId, (after) => {
          expect(after).toEqual([id]);
          return Promise.resolve([]);
        });
      }),
    );
  });
});
