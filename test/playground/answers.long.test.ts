import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../support/bot.ts';
import { hasBrowser, type OpenPlayground, openPlayground, say } from './browser.ts';

const [alice, ops] = ['U0ALICE00', 'C0OPS0000'];
// The free height of a phone. A chart is 460 pixels high wherever it stands.
const screen = 650;

describe.skipIf(!hasBrowser)('the answers of the bot in a browser', () => {
  let opened: OpenPlayground;
  let playground: OpenPlayground['playground'];
  let page: Page;

  beforeAll(async () => {
    opened = await openPlayground({ zones: 240 });
    ({ page, playground } = opened);
    await connect({ ...playground, env: {} }, alice, ops);
  });
  afterAll(() => opened?.stop());

  const answer = () => page.locator('#log .message').last();
  /** Types a command and waits until its answer has a small line at its end. */
  const ask = async (words: string): Promise<void> => {
    const before = await page.locator('#log .message').count();
    await say(page, `/cdn ${words}`);
    await expect.poll(() => page.locator('#log .message').count()).toBeGreaterThan(before);
    await answer().locator('[data-block="context"]').last().waitFor();
  };
  const choose = async (menu: string, entry: string): Promise<void> => {
    await answer().getByRole('combobox', { name: menu }).click();
    await page.getByRole('option', { name: entry }).click();
  };

  test.each(['errors', 'errors checkout', 'app app0api00000001', 'scanning 501', 'keys', 'audit', 'help'])(
    '/cdn %s is one screen of a phone, drawn whole at both widths',
    async (words) => {
      await ask(words);
      expect(await answer().locator('.unknown').count()).toBe(0);
      const cutOff = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('#scroll'))`;
      expect(await page.evaluate(cutOff)).toBe(0);
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await page.evaluate(cutOff)).toBe(0);
      const height = (await answer().boundingBox())?.height ?? 0;
      await page.setViewportSize({ width: 1200, height: 860 });
      expect(height).toBeLessThanOrEqual(screen);
    },
  );

  test.each([1200, 390])('origin errors are leafed through by their menus, %d pixels wide', async (width) => {
    await page.setViewportSize({ width, height: 860 });
    await ask('errors checkout');
    await choose('What fails', 'Paths');
    const table = answer().locator('.data-table');
    await table.getByRole('button', { name: 'Count' }).click();
    await table.getByRole('button', { name: 'Search table' }).click();
    await page.keyboard.type('api');
    const names = table.locator('tbody th');
    await expect.poll(() => names.allInnerTexts()).toEqual([expect.stringContaining('api')]);
    await choose('Paths', 'Hour by hour');
    await answer().locator('.chart rect').first().waitFor();
    await choose('Last 24 hours', 'Yesterday');
    await answer().getByRole('combobox', { name: 'Yesterday' }).waitFor();
    await answer().getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('option', { name: 'The zone' }).click();
    await answer().getByText('checkout.example.com').first().waitFor();
  });

  test.each([1200, 390])('a scan goes from chart to table, %d pixels wide', async (width) => {
    await page.setViewportSize({ width, height: 860 });
    await ask('scanning 501');
    await answer().locator('.chart rect').first().waitFor();
    await choose('By week', 'By day, as a table');
    await answer().locator('.data-table').waitFor();
    await answer().getByRole('button', { name: 'More rows' }).click();
    expect(await answer().getByRole('status').innerText()).toContain('6–10');
  });

  test('Share asks first, then everybody in the channel reads what was shown', async () => {
    await ask('errors checkout show:addresses');
    const shared = page.locator('#log .message:not(.ephemeral) .data-table');
    expect(await shared.count()).toBe(0);
    await answer().getByRole('button', { name: 'Share', exact: true }).click();
    await page.keyboard.press('Escape');
    expect(await shared.count()).toBe(0);
    await answer().getByRole('button', { name: 'Share', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button').last().click();
    await shared.waitFor();
    const seen = playground.slack.as('U0DAVE000', ops).messages();
    expect(seen.filter(({ bot, ephemeral }) => bot && !ephemeral)).toHaveLength(1);
  });

  test('the browser logged no error and no rule of Slack was broken', () => {
    expect(opened.complaints).toEqual([]);
    expect(playground.slack.problems).toEqual([]);
  });
});
