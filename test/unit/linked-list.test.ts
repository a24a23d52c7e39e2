import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LinkedList, type Listed } from '../../src/platform/egress/linked-list.ts';

interface One extends Listed<One> {
  no: number;
}

it('holds those that did not leave, in the order in which they came', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20), { nil: 'comes' as const })), (steps) => {
      const list = new LinkedList<One>();
      const here: One[] = [];
      steps.forEach((step, no) => {
        if (step === 'comes') {
          const one: One = { no, before: undefined, after: undefined };
          list.add(one);
          here.push(one);
        } else {
          for (const left of here.splice(step, 1)) {
            list.remove(left);
            // Whoever left holds on to nobody.
            expect(left).toEqual({ no: left.no, before: undefined, after: undefined });
          }
        }
        const found: number[] = [];
        for (let one = list.first; one; one = one.after) found.push(one.no);
        expect(found).toEqual(here.map((one) => one.no));
      });
    }),
  );
});
