import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll } from 'vitest';
import { startPlayground } from '../../simulator/playground.ts';
import { createLogger } from '../../src/telemetry/log.ts';

const path = findChromium();

/** Whether the tests of the page can run. */
export const hasBrowser = path !== undefined;

function findChromium(): string | undefined {
  const usual = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  const found = [env['CHROMIUM_PATH'], ...usual].find((place) => place !== undefined && existsSync(place));
  if (found === undefined)
    console.warn('No Chromium here: tests of the playground page are skipped. Set CHROMIUM_PATH.');
  return found;
}

export function launch(): Promise<Browser> {
  return chromium.launch({
    ...(path === undefined ? {} : { executablePath: path }),
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/**
 * A fresh page in a browser context of its own. `complaints` takes what the browser complains about: errors on the
 * console, and requests that would leave this machine.
 */
export async function openPage(
  browser: Browser,
  url: string,
  complaints: string[],
  colorScheme: 'light' | 'dark' = 'light',
): Promise<Page> {
  const viewport = { width: 1200, height: 860 };
  const context = await browser.newContext({ viewport, colorScheme, timezoneId: 'Europe/Berlin' });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && hostname !== '127.0.0.1') complaints.push(`asked ${hostname}`);
  });
  await page.goto(url);
  await page.getByRole('combobox', { name: 'Message or slash command' }).waitFor();
  return page;
}

export type OpenPlayground = Awaited<ReturnType<typeof openPlayground>>;

/** The playground with the real bot, and its page in a browser. */
export async function openPlayground(options: Partial<Parameters<typeof startPlayground>[0]>) {
  const dataDir = await mkdtemp(join(tmpdir(), 'playground-'));
  const playground = await startPlayground({ port: 0, dataDir, log: createLogger('silent'), ...options });
  const browser = await launch();
  const complaints: string[] = [];
  const page = await openPage(browser, playground.url, complaints);
  const stop = async (): Promise<void> => {
    await browser.close();
    await playground.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { playground, browser, page, complaints, stop };
}

/** The playground of a file of tests, to be called at its top; nothing where there is no browser. */
export async function usePlayground(options: Parameters<typeof openPlayground>[0]): Promise<OpenPlayground> {
  if (!hasBrowser) return {} as OpenPlayground;
  const opened = await openPlayground(options);
  afterAll(() => opened.stop());
  return opened;
}

/** How many pixels of the page are cut off. */
export const measureCutOff = (page: Page): Promise<number> =>
  page.evaluate(
    `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('#scroll'))`,
  );

/** Types into the page's first field, and sends it. */
export async function say(page: Page, words: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Message or slash command' }).fill(words);
  await page.keyboard.press('Enter');
}

/** Looks as another person. */
export async function be(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /Change person/ }).click();
  await page.getByRole('option', { name }).click();
  await page.getByText(`as ${name}`).waitFor();
}
