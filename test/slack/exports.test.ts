import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Bot } from '../bot.ts';
import { download, ended, filesIn, openForm, people, places, send, startExportBot } from './export-bot.ts';

const { alice } = people;
const { ops } = places;
let bot: Bot;

beforeAll(async () => {
  bot = await startExportBot();
});
beforeEach(() => {
  bot.slack.calls.length = 0;
  bot.cdn.requests.length = 0;
  Object.assign(bot.cdn.data.eventLogs, { rows: 200, bytes: undefined, announceLength: false });
});
afterEach(async () => {
  bot.cdn.faults.clear();
  expect(bot.slack.problems).toEqual([]);
  const spool = join(bot.env['DATA_DIR'] ?? '', 'spool');
  expect(await readdir(spool).catch(() => [])).toEqual([]);
});
afterAll(() => bot.stop());

/** What the service sends for the request that the bot made last. */
async function sentByService(): Promise<Buffer> {
  const request = bot.cdn.requests.findLast(({ path }) => path.endsWith('/export'));
  const response = await fetch(`${bot.cdn.url}${request?.path}`, {
    method: 'POST',
    headers: { accesskey: bot.cdn.key, 'content-type': 'application/json' },
    body: JSON.stringify(request?.body),
  });
  return Buffer.from(await response.arrayBuffer());
}

test('events go into a channel as one file, byte for byte, with what is in them beside it', async () => {
  const person = bot.slack.as(alice, ops);
  await openForm(person);
  expect(await send(person, { channel: ops })).toMatch(/started/);
  const done = await ended(bot.slack, ops, /200 events.*in 1 file below/);
  expect(done.edited).toBe(true);
  const [shared] = filesIn(bot.slack, ops);
  const [csv, chart] = shared?.files ?? [];
  const bytes = await download(bot.slack, csv?.url ?? '');
  expect(bytes.equals(await sentByService())).toBe(true);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expect(shared?.reads).toContain(sha256);
  console.log(shared?.text, done.reads, chart);
});
