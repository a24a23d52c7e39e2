import { describe, expect, it } from 'vitest';
import { OPERATOR_TOKEN } from '../support/service.ts';
import { DESK, PHONE, readers } from '../support/site-browser.ts';

/** The pages on which calls can be tried out: drawn by Scalar, answered by this very service. */

const { open, house, demoKey } = readers();

describe('the partner API', () => {
  it("sends a call with the reader's key and practice group, and shows the answer", async () => {
    const { page, complaints, requests } = await open(`/docs/api#key=${demoKey()}&group=hillview-hub`);
    await page.goto(`${house().url}/docs/api#tag/practice-groups/listPracticeGroups`);
    await page.getByRole('button', { name: /Test Request.*practice-groups/ }).click();
    const answered = page.waitForResponse((response) => response.url().includes('/v1/practice-groups'));
    await page.locator('[data-addressbar-action=send]').filter({ visible: true }).first().click();
    const answer = await answered;
    expect(answer.status()).toBe(200);
    expect(answer.url().startsWith(`${house().url}/v1/`)).toBe(true);
    expect(await answer.request().allHeaders()).toMatchObject({
      'x-api-key': demoKey(),
      'x-practice-group-id': 'hillview-hub',
    });
    await page.getByText('200 OK').waitFor();
    expect(complaints).toEqual([]);
    // The key was in that call and in no other.
    const carriers = await Promise.all(requests.map(async (one) => JSON.stringify(await one.allHeaders())));
    expect(carriers.filter((headers) => headers.includes(demoKey()))).toHaveLength(1);
  });

  it('shows the operation that a link names', async () => {
    const { page } = await open('/docs/api#tag/webhooks/createWebhook');
    await page.getByRole('heading', { name: 'Create a webhook' }).first().waitFor();
    await expect
      .poll(() =>
        page
          .getByRole('heading', { name: 'Create a webhook' })
          .first()
          .evaluate((h) => h.getBoundingClientRect().top),
      )
      .toBeLessThan(700);
  });

  it('takes over a key and a colour scheme that change meanwhile', async () => {
    const { page } = await open('/docs/api', { ...DESK, colorScheme: 'light' });
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Colour scheme: system' }).click();
    await page.getByRole('button', { name: 'Colour scheme: light' }).click();
    await page.locator('body.dark-mode').waitFor();
    await page.locator('button.reader').click();
    await page.getByRole('dialog').getByLabel('API key').fill(demoKey());
    await page.getByRole('dialog').getByLabel('Practice group').fill('riverside-surgery');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /Test Request.*practice-groups/ }).click();
    const answered = page.waitForResponse((response) => response.url().includes('/v1/practice-groups'));
    await page.locator('[data-addressbar-action=send]').filter({ visible: true }).first().click();
    expect((await answered).status()).toBe(200);
  });

  it('nothing lies on top of something else', async () => {
    const { page } = await open('/docs/api#tag/webhooks/createWebhook');
    const card = page.locator('.scalar-card-header-tabs').filter({ visible: true }).first();
    await card.waitFor();
    const last = await card.getByRole('tab').last().boundingBox();
    const copy = await card.getByRole('button', { name: 'Copy example value' }).boundingBox();
    const frame = await card.boundingBox();
    if (!last || !copy || !frame) throw new Error('The card is not drawn.');
    expect(last.x + last.width).toBeLessThanOrEqual(frame.x + frame.width);
    expect(last.y + last.height <= copy.y || last.x + last.width <= copy.x).toBe(true);

    const title = page.getByTestId('auth-indicator').first();
    await title.scrollIntoViewIfNeeded();
    expect(
      await title.evaluate((element) => {
        const { left, right, top, bottom } = element.getBoundingClientRect();
        const above = element.ownerDocument.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        return above === element;
      }),
    ).toBe(true);
  });

  it.each([PHONE, { viewport: { width: 1000, height: 800 } }])(
    'leads to the rest of the site at $viewport',
    async (size) => {
      const { page } = await open('/docs/api', size);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByRole('button', { name: 'Contents' }).click();
      const contents = page.getByRole('navigation', { name: 'Contents' });
      await contents.getByRole('link', { name: 'Events' }).click();
      await page.waitForURL(`${house().url}/docs/events`);
    },
  );

  it('leads nowhere else and offers nothing of anybody else', async () => {
    const { page } = await open('/docs/api');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const outside = page.locator('a[href^="http"]').filter({ visible: true });
    expect(await outside.count()).toBe(0);
    expect(await page.locator('body').innerText()).not.toMatch(/\bAI\b|Scalar|MCP|Agent/);
    await page.getByRole('link', { name: 'Porter', exact: true }).click();
    await page.waitForURL(`${house().url}/docs`);
  });
});

describe('the operator API', () => {
  it('sends a call with the token that the reader types, and forgets it', async () => {
    const { page, complaints } = await open('/docs/operator-api#tag/partners/listPartners');
    await page.getByRole('button', { name: /Test Request.*get \/operator\/v1\/partners\)/ }).click();
    await page.getByRole('dialog').getByPlaceholder('Token').fill(OPERATOR_TOKEN);
    const answered = page.waitForResponse((response) => response.url().includes('/operator/v1/partners'));
    await page.locator('[data-addressbar-action=send]').filter({ visible: true }).first().click();
    expect((await answered).status()).toBe(200);
    expect(complaints).toEqual([]);
    const kept = await page.evaluate(() => JSON.stringify(Reflect.get(globalThis, 'localStorage')));
    expect(kept).not.toContain(OPERATOR_TOKEN);
  });
});
