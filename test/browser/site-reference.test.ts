import { describe, expect, it } from 'vitest';
import { submissionTypePatch } from '../../src/contract/partner/submission-types.ts';
import { OPERATOR_TOKEN } from '../support/service.ts';
import { barriers, DESK, PHONE, readers } from '../support/site-browser.ts';

/** The pages on which calls can be tried out: drawn by Scalar, answered by this very service. */

const { open, house, demoKey } = readers();
const NARROW = { viewport: { width: 360, height: 780 } };

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

  it('keeps the key in this tab alone, whatever is called with it', async () => {
    const { page } = await open(`/docs/api#key=${demoKey()}&group=hillview-hub`);
    await page.goto(`${house().url}/docs/api#tag/practice-groups/listPracticeGroups`);
    await page.getByRole('button', { name: /Test Request.*practice-groups/ }).click();
    const answered = page.waitForResponse((response) => response.url().includes('/v1/practice-groups'));
    await page.locator('[data-addressbar-action=send]').filter({ visible: true }).first().click();
    expect((await answered).status()).toBe(200);
    await page.getByText('200 OK').waitFor();
    const kept = (name: string) => page.evaluate((store) => ({ ...Reflect.get(globalThis, store) }), name);
    expect(await kept('sessionStorage')).toMatchObject({ 'porter.key': demoKey() });
    // Scalar may keep settings of its own, but no secret.
    const local = await kept('localStorage');
    expect(JSON.stringify(local)).not.toContain(demoKey());
    expect(Object.keys(local).filter((name) => /auth|key|group/.test(name))).toEqual([]);
    const rest = await page.evaluate(async () => [
      Reflect.get(globalThis, 'document').cookie,
      await Reflect.get(globalThis, 'indexedDB').databases(),
      await Reflect.get(globalThis, 'caches').keys(),
    ]);
    expect(rest).toEqual(['', [], []]);

    const other = await page.context().newPage();
    await other.goto(`${house().url}/docs`);
    expect(await other.locator('button.reader').innerText()).toBe('Your key');
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

  it('shows every field of an update, in the order of the specification, each with its description', async () => {
    const { page } = await open('/docs/api#tag/submission-types/updateSubmissionType');
    const names = page.locator('[id*="updateSubmissionType.body."]').filter({ visible: true });
    await names.first().waitFor();
    const expected = Object.entries(submissionTypePatch.shape).map(([name, field]) => [
      name,
      field.meta()?.description?.replaceAll('`', ''),
    ]);
    const shown = () =>
      names.evaluateAll((fields) =>
        fields.map((field) => [
          field.id.replace(/^.*\./, ''),
          field.closest('li')?.querySelector('.property-description')?.textContent?.trim(),
        ]),
      );
    await expect.poll(shown).toEqual(expected);
    expect(expected).toHaveLength(15);
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
    // Until the page has come to its place, they are not measured at the same moment of its way.
    await expect
      .poll(async () => {
        const last = await card.getByRole('tab').last().boundingBox();
        const copy = await card.getByRole('button', { name: 'Copy example value' }).boundingBox();
        const frame = await card.boundingBox();
        if (!last || !copy || !frame) throw new Error('The card is not drawn.');
        const isInside = last.x + last.width <= frame.x + frame.width;
        const isApart = last.y + last.height <= copy.y || last.x + last.width <= copy.x;
        return { isInside, isApart };
      })
      .toEqual({ isInside: true, isApart: true });

    const title = page.getByTestId('auth-indicator').first();
    await expect
      .poll(async () => {
        await title.scrollIntoViewIfNeeded();
        return title.evaluate((element) => {
          const { left, right, top, bottom } = element.getBoundingClientRect();
          const above = element.ownerDocument.elementFromPoint((left + right) / 2, (top + bottom) / 2);
          return above === element;
        });
      })
      .toBe(true);
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

  it('has one menu on a phone, which begins at its beginning and leads to operations', async () => {
    const { page } = await open('/docs/api', NARROW);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: /menu|contents/i }).count()).toBe(1);
    await page.getByRole('button', { name: 'Contents' }).click();
    const contents = page.getByRole('navigation', { name: 'Contents' });
    await expect
      .poll(async () => {
        const heading = await contents.getByRole('heading').first().boundingBox();
        const bar = await page.locator('.bar').boundingBox();
        if (!heading || !bar) throw new Error('The menu is not drawn.');
        return heading.y - (bar.y + bar.height);
      })
      .toBeGreaterThanOrEqual(0);
    // And its end can be reached.
    await contents.getByRole('link', { name: 'Operator API' }).scrollIntoViewIfNeeded();
    await contents.getByText('Webhooks', { exact: true }).click();
    await contents.getByRole('link', { name: 'Rotate a webhook secret' }).click();
    await contents.waitFor({ state: 'hidden' });
    await expect
      .poll(() =>
        page
          .getByRole('heading', { name: 'Rotate a webhook secret' })
          .first()
          .evaluate((h) => h.getBoundingClientRect().top),
      )
      .toBeLessThan(700);
  });

  it('trying out on a phone: nothing lies on top of something else, and nobody is kept out', async () => {
    const { page } = await open('/docs/api#tag/submission-types/updateSubmissionType', NARROW);
    await page.getByRole('button', { name: /Test Request.*patch/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    const buttons = dialog.getByRole('button').filter({ visible: true });
    const boxes = async () =>
      (await Promise.all((await buttons.all()).map((one) => one.boundingBox()))).flatMap((box) =>
        box && box.y < 170 ? [box] : [],
      );
    await expect.poll(async () => (await boxes()).length).toBeGreaterThan(2);
    await expect
      .poll(async () => {
        const all = await boxes();
        return all.flatMap((a, at) =>
          all
            .slice(at + 1)
            .filter(
              (b) =>
                a.x + a.width > b.x && b.x + b.width > a.x && a.y + a.height > b.y && b.y + b.height > a.y,
            )
            .map((b) => [a, b]),
        );
      })
      .toEqual([]);
    await expect.poll(() => barriers(page)).toEqual([]);
  });

  it('has no dark code on a light page', async () => {
    const { page } = await open('/docs/api#tag/submission-types/updateSubmissionType', {
      ...DESK,
      colorScheme: 'light',
    });
    const code = page.locator('.request-card .scalar-code-block').filter({ visible: true }).first();
    await code.waitFor();
    await expect
      .poll(() =>
        code.evaluate((element) =>
          (element.ownerDocument.defaultView?.getComputedStyle(element).backgroundColor.match(/\d+/g) ?? [])
            .slice(0, 3)
            .map(Number)
            .every((part) => part > 200),
        ),
      )
      .toBe(true);
  });

  it('leads nowhere else and offers nothing of anybody else', async () => {
    const { page } = await open('/docs/api');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const outside = page.locator('a[href^="http"]').filter({ visible: true });
    await expect.poll(() => outside.count()).toBe(0);
    await expect.poll(() => page.locator('body').innerText()).not.toMatch(/\bAI\b|Scalar|MCP|Agent/);
    await page.getByRole('link', { name: 'Porter', exact: true }).click();
    await page.waitForURL(`${house().url}/docs`);
  });
});

describe('the operator API', () => {
  it("sends a call with the token of the reader's own dialog, which is kept for this tab alone", async () => {
    const { page } = await open('/docs/operator-api#tag/partners/listPartners');
    await page.locator('button.reader').click();
    const dialog = page.getByRole('dialog', { name: 'Your key' });
    await dialog.getByLabel('API key').fill(OPERATOR_TOKEN);
    await page.keyboard.press('Enter');
    expect(await dialog.getByRole('alert').innerText()).toContain('operator token');
    await dialog.getByLabel('API key').fill('');
    await dialog.getByLabel('Operator token').fill(OPERATOR_TOKEN);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: /Test Request.*get \/operator\/v1\/partners\)/ }).click();
    const answered = page.waitForResponse((response) => response.url().includes('/operator/v1/partners'));
    await page.locator('[data-addressbar-action=send]').filter({ visible: true }).first().click();
    expect((await answered).status()).toBe(200);
    const kept = await page.evaluate(() => JSON.stringify(Reflect.get(globalThis, 'localStorage')));
    expect(kept).not.toContain(OPERATOR_TOKEN);

    await page.goto(`${house().url}/docs/operating/keys`);
    const example = page.locator('figure.code:has([data-fill=token])').first();
    expect(await example.innerText()).toContain(`pto_••••${OPERATOR_TOKEN.slice(-4)}`);
    expect(await example.innerText()).not.toContain(OPERATOR_TOKEN);
  });

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
