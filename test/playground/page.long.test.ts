import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { createLogger } from '../../src/telemetry/log.ts';
import { be, hasBrowser, measureCutOff, openPage, say, usePlayground } from './browser.ts';

const logged: string[] = [];
const log = createLogger('debug', { write: (line) => void logged.push(line) });
const { browser, playground, complaints } = await usePlayground({ zones: 240, log });

describe.skipIf(!hasBrowser)('the playground in a browser, with the real bot', () => {
  let page: Page;
  const undrawn: string[] = [];
  beforeEach(async () => {
    if (page) undrawn.push(...(await page.locator('.unknown').allTextContents()));
    await page?.context().close();
    page = await openPage(browser, playground.url, complaints);
  });

  const type = (words: string) => say(page, words);
  const newest = () => page.locator('.message').last();
  test('a person connects a key: a wrong one is refused in the form, the right one is kept', async () => {
    await type('/cdn connect');
    const form = page.getByRole('dialog', { name: 'Connect a bunny.net key' });
    const key = form.getByRole('textbox', { name: 'API key' });
    await key.fill('two words');
    await page.keyboard.press('Enter');
    await form.getByText('A key has no spaces').waitFor();
    expect(await key.inputValue()).toBe('two words');

    await key.fill('not-the-right-key-at-all');
    await page.keyboard.press('Enter');
    await form.getByText('bunny.net refused this key.').waitFor();
    expect(await key.inputValue()).toBe('');

    await key.fill(playground.cdn.key);
    await page.keyboard.press('Enter');
    const done = page.getByRole('dialog', { name: 'Connected' });
    await done.getByText('240 zones').waitFor();
    await done.getByRole('button', { name: 'Done' }).click();
    await done.waitFor({ state: 'detached' });
    expect(await page.locator('#log').innerText()).not.toContain(playground.cdn.key);
  });

  test('a mention in a thread is answered there, privately, and the thread counts replies alone', async () => {
    await type('Images of checkout fail');
    await newest().getByText('Images of checkout fail').waitFor();
    await newest().hover();
    await newest().getByRole('button', { name: 'Reply in thread' }).click();
    const thread = page.getByRole('complementary', { name: 'Thread' });
    const field = thread.getByRole('combobox', { name: 'Reply' });
    await field.pressSequentially('@c');
    await page.keyboard.press('Tab');
    expect(await field.inputValue()).toBe('@cdn ');
    await page.keyboard.type('whoami');
    await page.keyboard.press('Enter');
    const answer = thread.locator('.message').last();
    await answer.getByText('Only visible to you').waitFor();
    await answer.getByText('Alice').first().waitFor();
    expect(await thread.locator('.mention').first().innerText()).toBe('@cdn');
    const line = page.locator('#log .thread-line');
    expect(await line.innerText()).toContain('1 reply');

    await field.fill('/cdn help');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('no commands in threads').waitFor();
    await page.reload();
    await answer.waitFor();
    await thread.getByRole('button', { name: 'Close thread' }).click();
    await thread.waitFor({ state: 'hidden' });
    await line.click();
    await be(page, 'Dave Dunn');
    await page.locator('#log .thread-line').click();
    await thread.getByText('@cdn whoami').waitFor();
    expect(await thread.locator('.message').count()).toBe(2);
  });

  test('another person sees nothing of what only Alice may see', async () => {
    await type('/cdn zones');
    await newest().getByText('240 zones').first().waitFor();
    await be(page, 'Dave Dunn');
    await expect.poll(() => page.locator('.message.ephemeral').count()).toBe(0);
    await type('/cdn zones');
    await newest().getByRole('button', { name: 'Connect your key' }).waitFor();
    await be(page, 'Alice Adams');
    await page.locator('.message.ephemeral').first().waitFor();
    // As in Slack.
    await page.reload();
    await page.locator('.message').first().waitFor();
    expect(await page.locator('.message.ephemeral').count()).toBe(0);
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
    await dialog.getByText(`in the last 24 hours in ${name}`).first().waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('as wide as a phone the channels fold into a menu and nothing is cut off', async () => {
    await type('/cdn zones');
    await newest().getByText('240 zones').first().waitFor();
    const width = `document.querySelector('#frame').clientWidth`;
    await page.getByRole('button', { name: 'Phone width' }).click();
    expect(await page.evaluate(width)).toBe(390);
    expect(await page.getByRole('button', { name: 'deploys' }).isVisible()).toBe(false);
    expect(await measureCutOff(page)).toBe(0);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'deploys' }).click();
    await page.getByRole('heading', { name: '#deploys' }).waitFor();
    expect(await page.getByRole('button', { name: 'deploys' }).isVisible()).toBe(false);
    // The look is remembered in this browser only; the next test has a browser context of its own.
    await page.reload();
    expect(await page.evaluate(width)).toBe(390);
  });

  test('every block was drawn, the browser logged no error, no rule of Slack was broken and no key is in the log', () => {
    expect([undrawn, complaints, playground.slack.problems]).toEqual([[], [], []]);
    expect(logged.length).toBeGreaterThan(0);
    expect(logged.join('')).not.toContain(playground.cdn.key);
  });
});
