import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { startPlayground } from '../../simulator/playground.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { saveSettings } from '../support/settings.ts';
import { launch, openPage } from './browser.ts';

// npm run pictures
// Takes the pictures of README and docs from the playground: people ask, and each picture is the messages that answer.
const docs = new URL('../../docs/', import.meta.url).pathname;
const [alice, bob] = ['U0ALICE00', 'U0BOB0000'];
const [ops, deploys] = ['C0OPS0000', 'C0DEPLOY0'];

const dataDir = await mkdtemp(join(tmpdir(), 'pictures-'));
const playground = await startPlayground({ port: 0, dataDir, zones: 60, log: createLogger('silent') });
const browser = await launch();
try {
  const { slack, cdn } = playground;
  const asker = slack.as(alice, ops);
  const finishModals = async (): Promise<void> => {
    while (asker.modal()) await asker.closeModal();
  };
  await asker.slash('connect');
  await asker.waitForModal('connect:submit');
  await asker.submit({ accessKey: cdn.key });
  await asker.waitForModal(({ reads }) => reads.includes(`${cdn.data.zones.length} zones`));
  await finishModals();
  await saveSettings(asker, { operators: [alice], approvers: [bob], approvalChannel: deploys });
  await finishModals();

  const page = await openPage(browser, playground.url, []);
  const look = async (channel: string): Promise<void> => {
    await page.getByRole('button', { name: channel }).click();
    await page.getByRole('heading', { name: `#${channel}` }).waitFor();
  };

  await look('ops');
  await asker.slash('zones');
  await page.getByText('this month').first().waitFor();
  await page.waitForTimeout(2000);
  await take(page, 'zones');

  await asker.slash('errors checkout');
  await page.locator('.data-table').last().waitFor();
  await page.waitForTimeout(1000);
  await take(page, 'errors');

  const volume = Object.entries(cdn.data.apps).flatMap(([, app]) =>
    Object.keys(app.volumes).map((volumeId) => ({ appId: app.id, volumeId })),
  )[0];
  if (!volume) throw new Error('the CDN has no volume');
  await asker.slash(`volume delete ${volume.appId} ${volume.volumeId}`);
  await asker.waitForModal('volumes:submit');
  const reason = 'Replaced by the new cache on Thursday; its node is gone.';
  await asker.submit({ confirmVolumeId: volume.volumeId, reason });
  const approver = slack.as(bob, deploys);
  const card = await approver.waitForMessage(({ reads }) => reads.includes(reason));
  await finishModals();
  await look('deploys');
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await take(page, 'approval-waits');
  cdn.faults.add({ match: { method: 'DELETE' }, drop: 'after-processing' });
  await approver.press('approvals:approve', { ts: card.ts });
  await page.getByRole('button', { name: 'Record what I found' }).waitFor();
  await take(page, 'approval-unknown');

  await look('ops');
  await asker.slash('export 501 last 6h');
  await asker.waitForModal('event-logs:submit');
  await asker.submit({ channel: ops });
  await asker.waitForMessage(({ files }) => files.length > 0);
  await finishModals();
  // The file and the chart above it.
  await page.locator('#log .file-card').last().waitFor();
  await page.locator('#log .chart').last().waitFor();
  await page.waitForTimeout(1000);
  await take(page, 'export', -2);

  await asker.slash('digest new');
  await asker.waitForModal(({ blocks }) => JSON.stringify(blocks).includes('"timezone"'));
  await asker.submit({ channel: deploys });
  const saved = await asker.waitForModal(({ reads }) => /Digest \w{5}/u.test(reads));
  await finishModals();
  await look('deploys');
  await asker.slash(`digest run ${/Digest (\w{5})/u.exec(saved.reads)?.[1] ?? ''}`);
  const replies = page.locator('.thread-line').last();
  await replies.waitFor();
  await page.waitForTimeout(2000);
  await take(page, 'digest');
  await replies.click();
  const thread = page.locator('#thread');
  await thread.locator('.message').nth(1).waitFor();
  await take(page, 'digest-thread', 1, '#thread .message');
} finally {
  await browser.close();
  await playground.stop();
  await rm(dataDir, { recursive: true, force: true });
}

/** The messages of the channel from the given one on. */
async function take(page: Page, name: string, from = -1, which = '#log .message'): Promise<void> {
  await page.setViewportSize({ width: which.startsWith('#log') ? 900 : 1240, height: 1800 });
  await page.mouse.move(0, 0);
  const messages = page.locator(which);
  const [first, last] = [await messages.nth(from).boundingBox(), await messages.last().boundingBox()];
  if (!first || !last) throw new Error(`there is no message for ${name}`);
  const clip = { ...first, height: last.y + last.height - first.y };
  await page.screenshot({ path: join(docs, `${name}.png`), clip });
}
