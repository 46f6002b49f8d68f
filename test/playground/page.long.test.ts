import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Playground, startPlayground } from '../../simulator/playground.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { hasBrowser, launch, openPage } from './browser.ts';

describe.skipIf(!hasBrowser)('the playground in a browser, with the real bot', () => {
  const logged: string[] = [];
  let browser: Browser;
  let dataDir: string;
  let playground: Playground;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'playground-'));
    const log = createLogger('debug', { write: (line) => void logged.push(line) });
    playground = await startPlayground({ port: 0, dataDir, zones: 240, log });
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    await playground?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  beforeEach(async () => {
    await page?.context().close();
    page = await openPage(browser, playground.url, complaints);
  });

  const type = async (command: string): Promise<void> => {
    await page.getByRole('combobox', { name: 'Message or slash command' }).fill(command);
    await page.keyboard.press('Enter');
  };
  const newest = () => page.locator('.message').last();
  const be = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: /Change person/ }).click();
    await page.getByRole('option', { name }).click();
    await page.getByText(`as ${name}`).waitFor();
  };

  test('a person connects a key: a wrong one is refused in the form, the right one is kept', async () => {
    await type('/cdn connect');
    const form = page.getByRole('dialog', { name: 'Connect your CDN key' });
    const key = form.getByRole('textbox', { name: 'API key' });
    await key.fill('two words');
    await page.keyboard.press('Enter');
    await form.getByText('A key has no spaces').waitFor();
    expect(await key.inputValue()).toBe('two words');

    await key.fill('not-the-right-key-at-all');
    await page.keyboard.press('Enter');
    await form.getByText('The CDN refused this key.').waitFor();
    expect(await key.inputValue()).toBe('');

    await key.fill(playground.cdn.key);
    await page.keyboard.press('Enter');
    const done = page.getByRole('dialog', { name: 'Connected' });
    await done.getByText('240 zones').waitFor();
    await done.getByRole('button', { name: 'Done' }).click();
    await done.waitFor({ state: 'detached' });
    expect(await page.locator('#log').innerText()).not.toContain(playground.cdn.key);
  });

  test('what to try first folds once there is an answer, and opens again', async () => {
    const first = page.locator('#hints ol');
    await type('/cdn help');
    await newest().getByText('/cdn zones').first().waitFor();
    await first.waitFor({ state: 'hidden' });
    await page.getByText('Try this first').click();
    await first.waitFor();
    await type('/cdn whoami');
    await newest().getByText('Alice').first().waitFor();
    expect(await first.isVisible()).toBe(true);
  });

  test('zones are listed, leafed through by Next, and one is opened', async () => {
    await type('/cdn zones');
    await newest().getByText('Page 1 of 24').waitFor();
    expect(await newest().innerText()).toContain('240 zones');
    expect(await newest().innerText()).toContain('Only visible to you');
    await newest().getByRole('button', { name: 'Next' }).click();
    await newest().getByText('Page 2 of 24').waitFor();
    const name = await newest().locator('strong').nth(1).innerText();
    await newest().getByRole('button', { name: 'Show' }).first().click();
    await newest().getByRole('heading', { name }).waitFor();
    expect(await newest().innerText()).toContain('Caching');
  });

  test('another person sees nothing of what only Alice may see', async () => {
    await page.locator('.message.ephemeral').first().waitFor();
    await be('Dave Dunn');
    await page.getByText('Nothing here yet that you can see').waitFor();
    expect(await page.locator('.message').count()).toBe(0);
    await type('/cdn zones');
    await newest().getByRole('button', { name: 'Connect your key' }).waitFor();
    await be('Alice Adams');
    await page.locator('.message.ephemeral').nth(1).waitFor();
  });

  test('Eve from another organisation sees the shared channel alone and is turned away', async () => {
    await be('Eve Evans');
    const channels = page.locator('.entry[data-channel^="C"]');
    expect(await channels.allInnerTexts()).toEqual([expect.stringContaining('shared')]);
    await type('/cdn zones');
    await newest().locator('.block').first().waitFor();
    expect(await newest().innerText()).not.toContain('240 zones');
  });

  test('the Home tab belongs to the person who looks', async () => {
    await page.getByRole('button', { name: 'Home' }).click();
    await page.locator('#home').getByText('your CDN key is connected').waitFor();
    await be('Carol Clark');
    await page.locator('#home').getByText('no CDN key is connected for you').waitFor();
    expect(await page.locator('#home').innerText()).not.toContain('Fingerprint');
  });

  test('text that is no command goes to the others, and the menu of a message looks its link up', async () => {
    const before = playground.slack.calls.length;
    const { Name: name, Hostnames: hostnames } = playground.cdn.data.zones[0] ?? {};
    await type(`hello *there*: https://${hostnames?.[0]?.Value}/a.jpg?x=1&y=2`);
    await newest().getByText('hello').waitFor();
    expect(playground.slack.calls.length).toBe(before);
    await newest().hover();
    await newest().getByRole('button', { name: 'Message shortcuts' }).click();
    await page.getByRole('option', { name: 'Look up origin errors' }).click();
    const dialog = page.getByRole('dialog', { name: 'Origin errors' });
    await dialog.getByText(`today in ${name}`).first().waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('the conversation with the app takes nothing typed, as in Slack, and the page says so', async () => {
    await page.getByRole('button', { name: 'Messages' }).click();
    await type('/cdn help');
    await newest().getByText('Nothing can be typed here').waitFor();
    expect(await newest().innerText()).toContain('Playground');
  });

  test('the ⚡ menu opens every permitted command, and the chosen one comes on top', async () => {
    await page.getByRole('button', { name: 'Shortcuts', exact: true }).click();
    await page.getByRole('option', { name: 'CDN menu' }).click();
    await page
      .getByRole('dialog', { name: 'CDN' })
      .getByRole('button', { name: 'Zones', exact: true })
      .click();
    const list = page.getByRole('dialog', { name: 'Zones' });
    await list.getByText('Page 1 of 24').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'CDN' }).getByText('Look').waitFor();
    expect(await list.count()).toBe(0);
    await page.keyboard.press('Escape');
  });

  test('as wide as a phone the channels fold into a menu and nothing is cut off', async () => {
    await type('/cdn zones');
    await newest().getByText('Page 1 of 24').waitFor();
    const width = `document.querySelector('#frame').clientWidth`;
    await page.getByRole('button', { name: 'Phone width' }).click();
    expect(await page.evaluate(width)).toBe(390);
    expect(await page.getByRole('button', { name: 'deploys' }).isVisible()).toBe(false);
    const cutOff = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('#scroll'))`;
    expect(await page.evaluate(cutOff)).toBe(0);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'deploys' }).click();
    await page.getByRole('heading', { name: '#deploys' }).waitFor();
    expect(await page.getByRole('button', { name: 'deploys' }).isVisible()).toBe(false);
    // The look is remembered in this browser only; the next test has a browser context of its own.
    await page.reload();
    expect(await page.evaluate(width)).toBe(390);
  });

  test('the keyboard alone reaches everything', async () => {
    const focused = page.locator(':focus');
    await page.getByRole('button', { name: 'deploys' }).press('Enter');
    await page.getByText('Nothing here yet').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('cdn zon');
    const suggestions = page.getByRole('listbox', { name: 'Commands' }).getByRole('option');
    expect(await suggestions.count()).toBe(2);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await focused.inputValue()).toBe('/cdn zones ');
    await page.keyboard.press('Enter');
    await newest().getByText('Page 1 of 24').waitFor();

    const tabBackTo = async (name: string): Promise<void> => {
      for (let tries = 0; tries < 30; tries += 1) {
        await page.keyboard.press('Shift+Tab');
        if ((await focused.innerText()).includes(name)) return;
      }
      throw new Error(`Tab does not reach ${name}`);
    };
    await tabBackTo('Next');
    await page.keyboard.press('Enter');
    await newest().getByText('Page 2 of 24').waitFor();
    await expect.poll(() => focused.innerText()).toContain('Next');

    await page.keyboard.press('/');
    await page.keyboard.type('cdn connect');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await focused.getAttribute('data-action')).toBe('accessKey');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await page.getByRole('button', { name: /Change person/ }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByText('as Bob Brown').waitFor();
  });

  test('a dark system gets a dark page', async () => {
    const dark = await openPage(browser, playground.url, complaints, 'dark');
    const ground = () => dark.evaluate(`getComputedStyle(document.querySelector('#frame')).backgroundColor`);
    expect(await ground()).toBe('rgb(22, 25, 29)');
    await dark.getByRole('button', { name: 'Dark' }).click();
    expect(await ground()).toBe('rgb(255, 255, 255)');
    await dark.context().close();
  });

  test('the browser logged no error, no rule of Slack was broken and no key is in the log', () => {
    expect(complaints).toEqual([]);
    expect(playground.slack.problems).toEqual([]);
    expect(logged.length).toBeGreaterThan(0);
    expect(logged.join('')).not.toContain(playground.cdn.key);
  });
});
