import { expect, it } from 'vitest';
import type { z } from 'zod';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { operatorEndpoints } from '../../src/contract/operator/index.ts';
import { partnerEndpoints } from '../../src/contract/partner/index.ts';
import { namedKeyEndpoints, portalEndpoints } from '../../src/contract/portal/index.ts';
import { practiceEndpoints } from '../../src/contract/practice/index.ts';
import { check } from '../../src/contract/validate.ts';

const endpoints: Endpoint[] = [
  partnerEndpoints,
  operatorEndpoints,
  portalEndpoints,
  namedKeyEndpoints,
  practiceEndpoints,
].flatMap((table) => Object.values<Endpoint>(table));
const values = [
  '',
  'x',
  'x'.repeat(10_000),
  7,
  -1.5,
  Number.POSITIVE_INFINITY,
  true,
  null,
  {},
  [],
  [null],
  [{}],
];

it.each(endpoints.map((endpoint) => [endpoint.operationId, endpoint] as const))(
  '%s: a value of the wrong type is one problem',
  (_id, { body, query }) => {
    for (const schema of [body, query] as (z.ZodObject | undefined)[])
      for (const name of Object.keys(schema?.shape ?? {}))
        for (const value of values) {
          const checked = schema && check(schema, { [name]: value });
          if (!checked || checked.ok) continue;
          const paths = checked.problems.map(({ path }) => JSON.stringify(path));
          for (const { code, path } of checked.problems)
            if (code === 'invalid_type')
              expect(
                paths.filter((one) => one === JSON.stringify(path)),
                name,
              ).toHaveLength(1);
        }
  },
);
