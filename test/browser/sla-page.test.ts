import { expect, it } from 'vitest';
import { OPERATOR_TOKEN } from '../support/service.ts';
import { barriers, DESK, overhang, PHONE, readers } from '../support/site-browser.ts';

/** The report of the SLA, as an operator reads and prints it. */

const { open, house, demoKey } = readers();
const A4 = { width: 794, height: 1123 };

async function reportOf(name: string): Promise<string> {
  const { data } = await house().operator('GET', '/partners');
  const partnerId = data[0].id;
  await house().operator('PATCH', `/partners/${partnerId}`, {
    name,
    sla: {
      availability_percent: 99.9,
      latency_ms: { p95: 250, p99: 0.5 },
      delivery_success_percent: 99.5,
      delivery_seconds: { p95: 30 },
    },
  });
  for (let i = 0; i < 5; i++) await house().send('GET', '/v1/me', { key: demoKey() });
  return `/operator/v1/partners/${partnerId}/sla`;
}

const asOperator = { extraHTTPHeaders: { authorization: `Bearer ${OPERATOR_TOKEN}` } };

it.each([
  ['desk', DESK],
  ['phone', PHONE],
  ['A4', { viewport: A4 }],
])('opens at the width of a %s without a complaint, fits, and keeps nobody out', async (_name, size) => {
  const path = await reportOf(`Brightwater & Söhne <script>document.title = 'stolen'</script>`);
  const { page, complaints } = await open(path, { ...size, ...asOperator });
  expect(await page.locator('h1').innerText()).toContain("<script>document.title = 'stolen'</script>");
  expect(await page.title()).not.toBe('stolen');
  expect(await overhang(page)).toBe(0);
  expect(await page.getByRole('row', { name: /99 % of the calls answered within/ }).innerText()).toMatch(
    /missed/,
  );
  expect(await barriers(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

it('is styled, and prints on one page of A4', async () => {
  const { page } = await open(await reportOf('Brightwater'), { ...DESK, ...asOperator });
  const border = await page
    .locator('thead th')
    .first()
    .evaluate((cell) => {
      return Reflect.get(globalThis, 'getComputedStyle')(cell).borderBottomWidth;
    });
  expect(border).toBe('2px');
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
  expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
});
