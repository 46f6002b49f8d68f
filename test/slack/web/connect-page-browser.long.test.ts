import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, launch } from '../../playground/browser.ts';
import { type Bot, createPublicUrl, requestConnectLink, startBot } from '../../support/bot.ts';
import { alice, bob, offers, ops, says } from '../words.ts';

const heading = (page: Page): Promise<string> => page.getByRole('heading', { level: 1 }).innerText();
const enter = async (page: Page, key: string): Promise<void> => {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Connect' }).click();
};

describe.skipIf(!hasBrowser)('the page for keys in a real browser', () => {
  let bot: Bot;
  let browser: Browser;
  const complaints: string[] = [];
  beforeAll(async () => {
    bot = await startBot({ zones: 25, env: await createPublicUrl() });
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    await bot?.stop();
  });

  const open = async (url: string, options: BrowserContextOptions = {}): Promise<Page> => {
    const context = await browser.newContext({ viewport: { width: 1000, height: 760 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
    page.on('console', (message) => {
      // The browser notes every answer above 399 in its console; those are asserted where they belong.
      if (message.type() !== 'info' && !/status of 4\d\d|favicon/.test(message.text()))
        complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== bot.env['PUBLIC_URL']) complaints.push(`asked ${request.url()}`);
    });
    await page.goto(url);
    return page;
  };
  test.each([
    ['as people have it', { colorScheme: 'light' }],
    [
      'on a phone in the dark, with JavaScript off',
      {
        viewport: { width: 360, height: 740 },
        isMobile: true,
        colorScheme: 'dark',
        javaScriptEnabled: false,
      },
    ],
  ] as const)('its whole life, %s', async (_, options) => {
    const person = bot.slack.as(alice, ops);
    const url = await requestConnectLink(person);
    const page = await open(url, options);
    expect(await heading(page)).toBe(says.page.form);
    await page.getByText(says.keyFor('alice', 'acme')).waitFor();
    const field = page.getByLabel('API key');
    expect(await field.getAttribute('type')).toBe('password');

    await enter(page, 'a key with spaces');
    await page.getByRole('alert').getByText('A key has no spaces').waitFor();
    expect(await field.inputValue()).toBe('');
    await enter(page, 'not-the-right-key-0123456789');
    await page.getByRole('alert').getByText('bunny.net refused this key.').waitFor();
    await page.getByText('4 tries left').waitFor();
    expect(await field.inputValue()).toBe('');

    // By keyboard alone: the field takes the focus by itself.
    await page.locator('#accessKey:focus').waitFor();
    await page.keyboard.insertText(bot.cdn.key);
    await page.keyboard.press('Enter');
    await page.getByText('Your key sees 25 zones.').waitFor();
    expect(await heading(page)).toBe('Connected');
    expect(page.url()).toBe(url);
    await bot.slack.as(alice, `D${alice}`).waitForMessage(offers('connect:forget'));

    await page.goto(url);
    expect(await heading(page)).toBe(says.page.used);
    await page.goto(`${url}x`);
    expect(await heading(page)).toBe(says.page.unknown);
    await page.context().close();
  });

  test('nothing of it is wider than a small phone, and its text is legible there', async () => {
    const page = await open(await requestConnectLink(bot.slack.as(bob, ops)), {
      viewport: { width: 320, height: 568 },
      isMobile: true,
    });
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(320);
    for (const control of [page.getByRole('button'), page.getByLabel('API key')])
      expect((await control.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    // A smaller one makes phones zoom in when it is tapped.
    const size = await page.evaluate<string>(
      'getComputedStyle(document.querySelector("#accessKey")).fontSize',
    );
    expect(Number.parseFloat(size)).toBeGreaterThanOrEqual(16);
    await page.context().close();
  });

  test('another site cannot frame it, and a form of another site sends nothing that is read', async () => {
    const url = await requestConnectLink(bot.slack.as(bob, ops));
    const page = await open(url);
    const asked = bot.cdn.requests.length;
    const evil = await page.context().newPage();
    await evil.setContent(
      `<iframe src="${url}"></iframe><form method="post" action="${url}">
       <input name="accessKey" value="${bot.cdn.key}"><button>win</button></form>`,
    );
    const framed = evil.frames().find((frame) => frame !== evil.mainFrame());
    expect(
      await framed
        ?.locator('#accessKey')
        .count()
        .catch(() => 0),
    ).toBe(0);
    await evil.getByRole('button', { name: 'win' }).click();
    await evil.getByRole('heading', { name: says.page.otherSite }).waitFor();
    expect(bot.cdn.requests.length).toBe(asked);
    await page.reload();
    expect(await heading(page)).toBe(says.page.form);
    await page.context().close();
  });

  test('the browser had nothing to complain about, and asked nobody else', () => {
    expect(complaints).toEqual([]);
  });
});
