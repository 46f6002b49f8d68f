import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, launch } from '../../playground/browser.ts';
import { type Bot, createPublicUrl, startBot } from '../../support/bot.ts';

describe.skipIf(!hasBrowser)('the install page in a real browser', () => {
  let bot: Bot;
  let browser: Browser;
  beforeAll(async () => {
    bot = await startBot({ transport: 'http', install: 'oauth', env: await createPublicUrl() });
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    await bot?.stop();
  });

  test('on a small phone without JavaScript nothing is wider, and its button leads to Slack', async () => {
    const context = await browser.newContext({
      viewport: { width: 320, height: 568 },
      isMobile: true,
      javaScriptEnabled: false,
    });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(`${bot.env['PUBLIC_URL']}/slack/install`);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(320);
    const button = page.getByRole('link');
    expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    const leadsTo = (await button.getAttribute('href')) ?? '';
    expect(leadsTo.startsWith(`${bot.slack.url}/oauth/v2/authorize?`)).toBe(true);
    expect(complaints).toEqual([]);
  });
});
