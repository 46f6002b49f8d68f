import { afterAll, beforeAll, expect, test } from 'vitest';
import { appIds } from '../../../simulator/cdn/apps.ts';
import { type Bot, connect, startBot } from '../../support/bot.ts';

const alice = 'U0ALICE00';
const ops = 'C0OPS0000';
let bot: Bot;

beforeAll(async () => {
  bot = await startBot({ zones: 12 });
  await connect(bot, alice, ops);
});
afterAll(() => bot.stop());

test('an app’s numbers are answered privately, and its chart comes as a picture in a direct message', async () => {
  const person = bot.slack.as(alice, ops);
  const inbox = bot.slack.as(alice, `D${alice}`);
  await person.slash(`app ${appIds.api}`);
  const answer = await person.waitForMessage(/Latency now: \*?38\.2/);
  expect(answer.ephemeral).toBe(true);
  expect(answer.reads).toContain('The chart comes to you as a direct message');
  const sent = await inbox.waitForMessage((message) => message.files.length > 0);
  expect(sent.reads).toContain('latency now 38.2, average 41.7');
  expect(sent.files[0]).toMatchObject({ name: `latency-${appIds.api}.png`, mimetype: 'image/png' });
  expect(sent.files[0]?.altText).toMatch(/^Line chart of the latency/);
  expect(person.messages().every((message) => message.files.length === 0)).toBe(true);
  expect(bot.slack.problems).toEqual([]);
});

test('where the chart cannot be sent the numbers stay, with why and a reference that is in the log', async () => {
  const person = bot.slack.as(alice, ops);
  bot.slack.script.fail('files.getUploadURLExternal', 'file_uploads_disabled');
  await person.slash('scanning 501');
  const answer = await person.waitForMessage(/does not allow this file/);
  expect(answer.reads).toMatch(/Files scanned: \*?[\d,]+/);
  const reference = /Reference (\w{8})/.exec(answer.reads)?.[1] ?? 'none';
  expect(bot.logs.join('')).toContain(reference);
});

test('a refusal of the scanning service reaches the person in its own words', async () => {
  const person = bot.slack.as(alice, ops);
  await person.slash('scanning 502');
  await person.waitForMessage(/Upload Scanning is not available on your plan/);
});

test('forms open for missing words, and answer where they were opened', async () => {
  const person = bot.slack.as(alice, ops);
  await person.slash('app');
  await person.waitForModal(/Show an app/);
  const options = await person.suggest('apps:pick', '');
  expect(options.length).toBeGreaterThan(0);
  await person.submit({ appId: appIds.worker });
  await person.waitForMessage(/Latency now: \*?240\.9/);
  await person.slash('scanning');
  await person.waitForModal(/Upload scanning/);
  await person.submit({ shieldZoneId: '503' });
  await person.waitForMessage(/shield zone 503/);
  expect(bot.slack.problems).toEqual([]);
});
