import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { connect } from '../support/bot.ts';
import { configure } from '../support/settings.ts';
import { openPage, openPlayground, say } from './browser.ts';
import { describeEfforts, measureTasks } from './tasks.ts';

// npm run pictures
// Takes the pictures of README and docs from the playground: people ask, and each picture is the messages that answer.
const docs = new URL('../../docs/', import.meta.url).pathname;
const [alice, bob] = ['U0ALICE00', 'U0BOB0000'];
const [ops, deploys] = ['C0OPS0000', 'C0DEPLOY0'];

const { playground, browser, page, stop } = await openPlayground({ zones: 60 });
const { slack, cdn } = playground;
const asker = slack.as(alice, ops);
const finishModals = async (): Promise<void> => {
  while (asker.modal()) await asker.closeModal();
};
try {
  await connect({ ...playground, env: {} }, alice, ops);
  await configure(asker, { operators: [alice], approvers: [bob], approvalChannel: deploys });

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
  await page.getByText('origin errors in the last 24 hours').last().waitFor();
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
  // The card is drawn again once it is edited for the channel.
  await page.waitForTimeout(1000);
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
  await writeAnswers(await openPage(browser, playground.url, []));
  await takeAssistant();
} finally {
  await stop();
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

/** What people type, for the page of answers, with its heights on 25 November 2026, before issue 34: natively, in words. */
function listAnswers(): Readonly<Record<string, readonly [native: number, words: number]>> {
  return {
    zones: [571, 2437],
    'zones only:attention': [571, 533],
    'zone shop': [326, 326],
    'zone shop hostnames': [397, 270],
    errors: [717, 896],
    'errors checkout': [676, 1009],
    changes: [321, 321],
    'compare shop media': [609, 2149],
    'app app0api00000001': [684, 651],
    'scanning 501': [688, 654],
    keys: [517, 334],
    approvals: [222, 222],
    'export list': [132, 132],
    'digest list': [154, 154],
    'alert list': [154, 154],
    audit: [463, 376],
    whoami: [262, 262],
    token: [174, 174],
    doctor: [567, 881],
    help: [609, 1032],
    nonsense: [154, 154],
  };
}

/** Every answer at the width of a phone, natively and in words: two pictures, and a table of their heights. */
async function writeAnswers(page: Page): Promise<void> {
  const asked = slack.as(alice, ops);
  await page.setViewportSize({ width: 390, height: 2600 });
  const heights: Record<string, number[]> = {};
  for (const [nth, name] of ['answers-after', 'answers-words'].entries()) {
    if (nth > 0) await page.evaluate(switchToWords, alice);
    const shots: string[] = [];
    for (const words of Object.keys(listAnswers())) {
      const before = asked.messages().length;
      await asked.slash(words);
      await asked.waitForMessage(() => asked.messages().length > before, 10_000);
      await page.waitForTimeout(2_500);
      const message = page.locator('#log .message').last();
      (heights[words] ??= []).push(Math.round((await message.boundingBox())?.height ?? 0));
      shots.push((await message.screenshot()).toString('base64'));
      await finishModals();
    }
    await saveMosaic(page, name, shots);
  }
  const rows = Object.entries(heights).map(([words, [native, plain]]) => {
    const [nativeBefore, plainBefore] = listAnswers()[words] ?? [];
    return `| \`/cdn ${words}\` | ${nativeBefore} | **${native}** | ${plainBefore} | **${plain}** |`;
  });
  const text = `# Answers on a phone

Every answer as the playground draws it, 390 pixels wide, of which about 650 in height are free: in Slack's own tables and charts, and in words, where
Slack refuses those. \`npm run pictures\` makes this page. Before, nothing had been asked for, exported or posted: those lists were empty.

| typed | before | height | in words before | in words |
|---|---|---|---|---|
${rows.join('\n')}

## What five tasks take

Characters of commands and ids + taps, screens to read, as wide as a phone. Values and reasons are free, and so is Enter.

${await countTaps()}

Before:

![Every answer before, 390 pixels wide](answers-before.png)

Now:

![Every answer, 390 pixels wide](answers-after.png)

In words, before:

![Every answer in words before](answers-before-words.png)

In words, now:

![The same in words](answers-words.png)
`;
  await writeFile(join(docs, 'answers.md'), text);
}

/** In a playground of its own, where something has happened. */
async function countTaps(): Promise<string> {
  const other = await openPlayground({ zones: 60, story: true });
  const taps = describeEfforts(await measureTasks(other.page));
  await other.stop();
  return taps;
}

/** The conversation with Slack's assistant, on a desk and on a phone. */
async function takeAssistant(): Promise<void> {
  const { page, playground: other, stop: end } = await openPlayground({ assistant: true, zones: 60 });
  await connect({ ...other, env: { PUBLIC_URL: other.botUrl } }, alice, ops);
  const settings = { operators: [alice], approvers: [bob], assistant: 'proposing' };
  await configure(other.slack.as(alice, ops), settings);
  await page.setViewportSize({ width: 1200, height: 1000 });
  await page.getByRole('button', { name: 'slackbot' }).click();
  for (const words of [
    'list_origin_errors zone=shop period=24h',
    'propose_volume_deletion app=app0worker00002 volume=old-cache reason=The node is gone',
  ]) {
    await say(page, words);
    await page
      .locator('#log .message', { hasText: /by \w+ of cdn|can make changes/u })
      .last()
      .waitFor();
    await page.waitForTimeout(1_500);
  }
  await page.locator('#log').getByRole('button', { name: 'Allow once' }).click();
  await page.getByText('by propose_volume_deletion of cdn').waitFor();
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(docs, 'assistant.png') });
  await page.setViewportSize({ width: 390, height: 1_100 });
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(docs, 'assistant-phone.png') });
  await end();
}

/** Runs in the page: Slack refuses charts and tables from now on. */
async function switchToWords(user: string): Promise<void> {
  await fetch('/ui/words-only', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ on: true, user }),
  });
}

/** All pictures in columns of one. */
async function saveMosaic(page: Page, name: string, shots: readonly string[]): Promise<void> {
  const board = await page.context().newPage();
  await board.setViewportSize({ width: 2060, height: 1000 });
  const mosaicColumns = 5;
  const columns = Array.from({ length: mosaicColumns }, (_, column) => {
    const own = shots.filter((__, nth) => nth % mosaicColumns === column);
    return `<div>${own.map((shot) => `<img src="data:image/png;base64,${shot}">`).join('')}</div>`;
  });
  const style =
    'body{margin:8px;display:flex;gap:8px;align-items:flex-start}img{width:390px;display:block;margin-bottom:12px}';
  await board.setContent(`<style>${style}</style>${columns.join('')}`);
  await board.screenshot({ path: join(docs, `${name}.png`), fullPage: true });
  await board.close();
}
