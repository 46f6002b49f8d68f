import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../support/bot.ts';
import { renderLongLists } from '../support/long-lists.ts';
import { configure } from '../support/settings.ts';
import { hasBrowser, measureCutOff, say, usePlayground } from './browser.ts';

const [alice, ops] = ['U0ALICE00', 'C0OPS0000'];
// The free height of a phone. A chart is 460 pixels high wherever it stands.
const screen = 650;
const wide = { width: 1200, height: 860 };

/** Of 240 zones with long names; by their ids. */
const answers = [
  'zones',
  'zones only:attention',
  'zones origin:shop',
  'zone 1001',
  'zone 1001 rules',
  'zone 1001 all',
  'errors',
  'errors 1006',
  'errors 1006 show:hours',
  'errors 1006 show:addresses',
  'errors 1006 show:samples',
  'compare 1001 1003 all',
  'changes',
  'app app0api00000001',
  'scanning 501',
  'keys',
  'audit',
  'doctor',
  'help',
  'export 501 24h',
];

const { page, playground, complaints } = await usePlayground({ zones: 240 });

const answer = () => page.locator('#log .message').last();
const switchWords = (pressed: boolean) => async () => {
  await page.getByRole('button', { name: 'Words only' }).click();
  await page.getByRole('button', { name: 'Words only', pressed }).waitFor();
};

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

/** How high it is on a phone, and whether something of the page is cut off there or on a desk. */
const measure = async (message = answer()) => {
  const atDesk = await measureCutOff(page);
  await page.setViewportSize({ width: 390, height: 844 });
  const onPhone = await measureCutOff(page);
  const height = (await message.boundingBox())?.height ?? 0;
  await page.setViewportSize(wide);
  expect([atDesk, onPhone, await message.locator('.unknown').count()]).toEqual([0, 0, 0]);
  return Math.round(height);
};
/** The heights of an answer; an export posts two messages. */
const measureAnswer = async (words: string): Promise<number[]> => {
  if (!words.startsWith('export')) {
    await ask(words);
    return [await measure()];
  }
  const person = playground.slack.as(alice, ops);
  const files = page.locator('#log .file-card');
  const before = await files.count();
  await person.slash(words);
  await person.waitForModal('event-logs:submit');
  await person.submit({ channel: ops });
  await expect.poll(() => files.count(), { timeout: 10_000 }).toBeGreaterThan(before);
  await expect.poll(() => person.waitForModal('event-logs:started').then(() => true)).toBe(true);
  await person.closeModal();
  const all = page.locator('#log .message');
  return [await measure(all.nth((await all.count()) - 2)), await measure()];
};

describe.skipIf(!hasBrowser)('the answers of the bot in a browser', () => {
  beforeAll(async () => {
    const { zones, originErrors } = playground.cdn.data;
    for (const [at, zone] of zones.entries())
      zones[at] = {
        ...structuredClone(zone),
        Name: `${zone.Name}-of-the-central-european-region-since-2019`,
      };
    originErrors.count = ({ id }) => (id === 1006 || id % 3 === 0 ? 300 + (id % 7) : 0);
    await connect({ ...playground, env: {} }, alice, ops);
    await configure(playground.slack.as(alice, ops), { operators: [alice] });
  });

  describe.each(['in charts and tables', 'in words'])('%s', (how) => {
    if (how === 'in words') {
      beforeAll(switchWords(true));
      afterAll(switchWords(false));
    }
    test.each(answers)('/cdn %s is one screen of a phone', async (words) => {
      const heights = await measureAnswer(words);
      expect(heights.filter((height) => height > screen)).toEqual([]);
      // Of a row on a phone no more than two lines.
      const rows = await answer().locator('[data-block="actions"]').count();
      expect(rows).toBeLessThanOrEqual(1);
    });
  });

  test.each(Object.entries(renderLongLists()))(
    '%s with long names are one screen of a phone',
    async (_, list) => {
      const before = await page.locator('#log .message').count();
      const { text, blocks } = list;
      await fetch(`${playground.slack.url}/api/chat.postMessage`, {
        method: 'POST',
        headers: { authorization: `Bearer ${playground.slack.botToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ channel: ops, text, blocks }),
      });
      await expect.poll(() => page.locator('#log .message').count()).toBeGreaterThan(before);
      expect(await measure()).toBeLessThanOrEqual(screen);
    },
  );

  test('as wide as a phone origin errors are leafed through by their menus', async () => {
    await page.setViewportSize({ width: 390, height: 860 });
    await ask('errors 1006');
    await choose('View or period…', 'Paths');
    const table = answer().locator('.data-table');
    await table.getByRole('button', { name: 'Count' }).click();
    await table.getByRole('button', { name: 'Search table' }).click();
    await page.keyboard.type('api');
    const names = table.locator('tbody th');
    await expect.poll(() => names.allInnerTexts()).toEqual([expect.stringContaining('api')]);
    await choose('View or period…', 'Hour by hour');
    await answer().locator('.chart rect').first().waitFor();
    await choose('View or period…', 'Yesterday');
    await answer()
      .getByText(/errors yesterday/u)
      .first()
      .waitFor();
    await answer().getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('option', { name: 'The zone' }).click();
    await answer().getByText('checkout.example.com').first().waitFor();
  });

  test('as wide as a phone a scan is a chart, and the rows of a table are turned', async () => {
    await page.setViewportSize({ width: 390, height: 860 });
    await ask('scanning 501');
    await answer().locator('.chart rect').first().waitFor();
    await ask('zones');
    await answer().locator('.data-table').waitFor();
    await answer().getByRole('button', { name: 'More rows' }).click();
    expect(await answer().getByRole('status').innerText()).toContain('6–10');
  });

  test('Share asks first, then everybody in the channel reads what was shown', async () => {
    await ask('errors 1006 show:addresses');
    const shared = page.locator('#log .message:not(.ephemeral) .data-table');
    expect(await shared.count()).toBe(0);
    await answer().getByRole('button', { name: 'Share', exact: true }).click();
    await page.keyboard.press('Escape');
    expect(await shared.count()).toBe(0);
    await answer().getByRole('button', { name: 'Share', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button').last().click();
    await shared.waitFor();
    const seen = playground.slack.as('U0DAVE000', ops).messages();
    expect(seen.filter(({ reads }) => reads.includes('Shared by'))).toHaveLength(1);
  });

  test('the browser logged no error and no rule of Slack was broken', () => {
    expect([complaints, playground.slack.problems]).toEqual([[], []]);
  });
});
