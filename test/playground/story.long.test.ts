import { describe, expect, test } from 'vitest';
import { ask } from '../support/bot.ts';
import { be, hasBrowser, measureCutOff, say, usePlayground } from './browser.ts';

const [alice, bob, dave, ops] = ['U0ALICE00', 'U0BOB0000', 'U0DAVE000', 'C0OPS0000'];

const { page, playground, complaints } = await usePlayground({ zones: 60, story: true });

const composer = () => page.locator('.composer-field').first();
const newest = () => page.locator('#log .message').last();
const hints = () => page.locator('#hints li');

describe.skipIf(!hasBrowser)('the story of the playground', () => {
  test.each([1200, 390])(
    'it begins with an incident, a certificate that ends and three hints, %d pixels wide',
    async (width) => {
      await page.setViewportSize({ width, height: 844 });
      await expect.poll(() => hints().count()).toBe(3);
      const incidents = page.locator('#log .message', { hasText: 'Acknowledge' });
      expect(await incidents.count()).toBe(2);
      expect(await incidents.first().innerText()).toMatch(/shop: \d+ errors/u);
      expect(await incidents.last().innerText()).toContain('assets.example.com');
      expect(await measureCutOff(page)).toBe(0);
      await page.setViewportSize({ width: 1200, height: 860 });
    },
  );

  test('a zone is near its limit, and Home says what is going on', async () => {
    await say(page, '/cdn zones only:above-80');
    await newest().locator('.data-table').getByText('media').first().waitFor();
    await page.getByRole('button', { name: 'Home' }).click();
    await page.locator('#home').getByText('2 incidents open').waitFor();
    expect(await page.locator('#home').innerText()).toMatch(/\d+ zones need attention/u);
    await page.getByRole('button', { name: 'ops' }).click();
  });

  test('people have the roles that they are labelled with', async () => {
    for (const [id, can, cannot] of [
      [alice, ['settings'], ['volume delete']],
      [bob, ['volume delete', 'errors'], ['settings']],
      [dave, ['errors'], ['volume delete', 'settings']],
    ] as const) {
      const person = playground.slack.as(id ?? '', ops);
      for (const [words, expected] of [
        ...can.map((one) => [one, true] as const),
        ...cannot.map((one) => [one, false] as const),
      ]) {
        const { reads } = await ask(person, `why ${words}`);
        expect([id, words, reads.startsWith(':white_check_mark:')]).toEqual([id, words, expected]);
      }
    }
  });

  test('the hints go one by one as they are followed, and with them the box', async () => {
    await page.reload();
    await expect.poll(() => hints().count()).toBe(3);
    await page.getByRole('button', { name: 'What to try' }).click();
    await page.locator('#hints').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'What to try' }).click();
    await page.locator('#hints').getByRole('button', { name: '/cdn why is shop failing' }).click();
    await page.keyboard.press('Enter');
    // The whole chain: cause and host, since when, since what change.
    await newest().getByText('origin-shop-v2.example.com').first().waitFor();
    const [, cause = '', change = ''] = (
      await newest().locator('[data-block="section"]').first().innerText()
    ).split('\n');
    expect(cause).toMatch(/cannot resolve origin-shop-v2\.example\.com .*since \d\d:\d\d/u);
    expect(change).toContain('https://origin-shop.example.com → https://origin-shop-v2.example.com');
    await expect.poll(() => hints().count()).toBe(2);

    await be(page, 'Bob Brown');
    await page
      .locator('#hints')
      .getByRole('button', { name: /volume delete/u })
      .click();
    await page.keyboard.press('Enter');
    const ask = page.getByRole('dialog');
    await ask.getByRole('textbox', { name: 'Type the volume id again' }).fill('old-cache');
    await ask.getByRole('textbox', { name: 'Why?' }).fill('Its node is gone since Thursday');
    await ask.locator('[data-part="submit"]').click();
    await ask.locator('[data-part="close"]').getByText('Close').click();
    await be(page, 'Carol Clark');
    await page.getByRole('button', { name: 'deploys' }).click();
    await newest().getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Approve' }).click();
    await expect.poll(() => playground.cdn.data.volumeDeletions.length).toBe(1);
    await expect.poll(() => hints().count()).toBe(1);
    await page.locator('#hints').getByRole('button', { name: '/cdn connect', exact: true }).click();
    expect(await composer().inputValue()).toBe('/cdn connect');
    await page.keyboard.press('Enter');
    const form = page.getByRole('dialog', { name: 'Connect a bunny.net key' });
    await form.getByRole('textbox', { name: 'API key' }).fill(playground.cdn.key);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();

    await expect.poll(() => hints().count()).toBe(0);
    expect(await page.getByRole('button', { name: 'What to try' }).count()).toBe(0);
  });

  test('steps of a workflow run from the ⚡ menu, and tell what came of them', async () => {
    await page.getByRole('button', { name: 'ops' }).click();
    await be(page, 'Dave Dunn');
    const choose = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'Shortcuts', exact: true }).click();
      await page.getByRole('option', { name }).click();
    };
    await choose('Find zones that need attention');
    await page.getByText(/Workflow “Find zones that need attention”: \d+ of 60/u).waitFor();
    await choose('Count origin errors of a zone');
    const form = page.getByRole('dialog', { name: 'Count origin errors of a zone' });
    expect(await form.getByRole('textbox', { name: 'Zone' }).inputValue()).toBe('shop');
    await page.keyboard.press('Enter');
    await page.getByText(/Workflow “Count origin errors of a zone”: .*shop/u).waitFor();
  });

  test('the browser logged no error and no rule of Slack was broken', () => {
    expect([complaints, playground.slack.problems]).toEqual([[], []]);
  });
});
