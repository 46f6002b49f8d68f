import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { startPlayground } from '../../simulator/playground.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { connect } from '../support/bot.ts';
import { saveSettings } from '../support/settings.ts';
import { launch, openPage } from './browser.ts';

const [alice, bob, ops] = ['U0ALICE00', 'U0BOB0000', 'C0OPS0000'];

/** Takes the conversation with Slack's assistant in the playground, on a desk and on a phone. */
export async function takeAssistant(browser: Browser, directory: string): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'pictures-'));
  const log = createLogger('silent');
  const playground = await startPlayground({ port: 0, assistant: true, dataDir, zones: 60, log });
  const { slack, cdn, botUrl } = playground;
  try {
    await connect({ slack, cdn, env: { PUBLIC_URL: botUrl } }, alice, ops);
    const admin = slack.as(alice, ops);
    await saveSettings(admin, { operators: [alice], approvers: [bob], assistant: 'proposing' });
    while (admin.modal()) await admin.closeModal();
    const page = await openPage(browser, playground.url, []);
    await page.setViewportSize({ width: 1200, height: 1000 });
    await page.getByRole('button', { name: 'slackbot' }).click();
    for (const words of [
      'list_origin_errors zone=shop period=24h',
      'propose_volume_deletion app=app0worker00002 volume=old-cache reason=The node is gone',
    ]) {
      await page.getByRole('combobox', { name: 'Message or slash command' }).fill(words);
      await page.keyboard.press('Enter');
      await page
        .locator('#log .message', { hasText: /by \w+ of cdn|can make changes/u })
        .last()
        .waitFor();
      await page.waitForTimeout(1_500);
    }
    await page.locator('#log').getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('by propose_volume_deletion of cdn').waitFor();
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(directory, 'assistant.png') });
    await page.setViewportSize({ width: 390, height: 1_100 });
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(directory, 'assistant-phone.png') });
  } finally {
    await playground.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const browser = await launch();
  await takeAssistant(browser, process.argv[2] ?? new URL('../../docs/', import.meta.url).pathname);
  await browser.close();
}
