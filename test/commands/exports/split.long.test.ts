import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import type { VisibleMessage } from '../../../simulator/slack/messages.ts';
import { channels, download, users } from './bot.ts';
import { useExportHarness } from './harness.ts';
import { readExport, says } from './words.ts';

const { alice } = users;
const { ops } = channels;
const partBytes = 12_000;
const harness = useExportHarness({ exportLimits: { fileBytes: 30_000, partBytes, parts: 10, files: 14 } });
const { bot, exportRequests, callsTo, exportTo, expectNothingLeft, newFiles, expectEmptySpool, waitForPost } =
  harness;

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const row = (nth: number): string =>
  `2026-11-20T10:${String(nth % 60).padStart(2, '0')}:00Z,blocked,203.0.113.${nth % 200},"/a?n=${nth}\n=b ""x""",agent ${nth}\r\n`;

/** A log of about so many bytes, with line breaks and quotes in its cells; the CDN sends it once. */
function serve(bytes: number, times = 1): Buffer {
  const header = 'timestamp,action,ip,url,ua\r\n';
  const rows = Math.ceil(bytes / row(100).length);
  const body = header + Array.from({ length: rows }, (_, nth) => row(nth)).join('');
  bot().cdn.faults.add({ match: { path: /export$/ }, body, headers: { 'content-type': 'text/csv' }, times });
  return Buffer.from(body);
}

/** The CSV files of the one message that came, with their bytes. */
async function parts(): Promise<{ message: VisibleMessage; files: { name: string; bytes: Buffer }[] }> {
  const [message, ...more] = newFiles(ops);
  if (!message) throw new Error('no files came');
  expect(more).toEqual([]);
  const files = await Promise.all(
    message.files
      .filter(({ name }) => name.endsWith('.csv'))
      .map(async ({ name, url }) => ({ name, bytes: await download(bot().slack, url) })),
  );
  return { message, files };
}

const withoutHeader = (part: Buffer): Buffer => part.subarray(part.indexOf('\n') + 1);

test('a log that fits into no file comes as several in one message: joined, with one header, it is what the CDN sent', async () => {
  const log = serve(70_000);
  await exportTo(ops, { split: ['yes'] });
  const done = await waitForPost(ops, says.posted('\\d+'));
  const { message, files } = await parts();
  expect(files.length).toBeGreaterThan(5);
  expect(done.reads).toMatch(says.posted(files.length));
  expect(files.map(({ name }) => /-part(\d+)of(\d+)\.csv$/.exec(name)?.slice(1).map(Number))).toEqual(
    files.map((_, nth) => [nth + 1, files.length]),
  );
  const joined = files.map(({ bytes }, nth) => (nth === 0 ? bytes : withoutHeader(bytes)));
  expect(Buffer.concat(joined).equals(log)).toBe(true);
  for (const { name, bytes } of files) {
    const [header, ...rows]: string[][] = parse(bytes);
    expect(header).toEqual(['timestamp', 'action', 'ip', 'url', 'ua']);
    expect(rows.length).toBeGreaterThan(0);
    expect(bytes.length).toBeLessThanOrEqual(partBytes);
    expect(message.reads).toMatch(new RegExp(`${name}.*${sha256(bytes)}`));
  }
  const whole = message.reads.split('\n').filter((line) => line.includes(sha256(log)));
  expect(readExport({ reads: whole.join('\n') }, { sha256: sha256(log) })).toMatchSnapshot();
  // The chart of all of it, once.
  expect(done.blocks?.filter(({ type }) => type === 'data_visualization')).toHaveLength(1);
  expect(callsTo('files.completeUploadExternal')).toHaveLength(1);
  expect(callsTo('chat.postMessage')).toHaveLength(1);
  await expectEmptySpool();
});

test('the copy for spreadsheets is cut like the file: every part of it has the header and the same rows', async () => {
  const log = serve(40_000);
  await exportTo(ops, { split: ['yes'], spreadsheetSafe: ['yes'], pseudonyms: ['yes'] });
  await waitForPost(ops, says.posted('\\d+'));
  const { message, files } = await parts();
  const raw = files.filter(({ name }) => !name.endsWith('-spreadsheet.csv'));
  const safe = files.filter(({ name }) => name.endsWith('-spreadsheet.csv'));
  expect(raw.length).toBeGreaterThan(2);
  expect(safe.map(({ name }) => name)).toEqual(
    raw.map(({ name }) => name.replace(/\.csv$/, '-spreadsheet.csv')),
  );
  const rowsOf = (all: typeof files): string[][] => all.flatMap(({ bytes }) => parse(bytes).slice(1));
  expect(rowsOf(safe)).toHaveLength(parse(log).length - 1);
  expect(rowsOf(safe).map(([at]) => at)).toEqual(rowsOf(raw).map(([at]) => at));
  expect(files.some(({ bytes }) => bytes.includes('203.0.113.'))).toBe(false);
  const joined = Buffer.concat(raw.map(({ bytes }, nth) => (nth === 0 ? bytes : withoutHeader(bytes))));
  expect(message.reads).toContain(sha256(joined));
  await expectEmptySpool();
});

test('too large for one file, the message offers to split it, and one press does', async () => {
  serve(40_000, 2);
  await exportTo(ops);
  const told = await waitForPost(ops, says.failed);
  expect(readExport(told)).toMatchSnapshot();
  await expectNothingLeft();
  await bot().slack.as(alice, ops).press('event-logs:again:0', { ts: told.ts });
  await waitForPost(ops, says.posted(4));
  await expectEmptySpool();
});

test.each([
  ['', {}, 130_000],
  // Slack takes fourteen files in one message.
  [', with a copy for spreadsheets after fewer', { spreadsheetSafe: ['yes'] }, 90_000],
])('larger than all parts together it is refused, with smaller windows%s', async (_, values, bytes) => {
  serve(bytes);
  await exportTo(ops, { split: ['yes'], ...values });
  const told = await waitForPost(ops, says.failed);
  expect(readExport(told)).toMatchSnapshot();
  expect(JSON.stringify(told.blocks).match(/event-logs:again:\d/g)).toHaveLength(2);
  expect(callsTo('files.getUploadURLExternal')).toEqual([]);
  await expectNothingLeft();
});

test('a part that breaks off on its way is sent again with the others: one message, every part once', async () => {
  const log = serve(40_000, 2);
  const first = bot().slack.script.hold('files.upload', 'after');
  await exportTo(ops, { split: ['yes'] });
  await first.reached;
  const second = bot().slack.script.hold('files.upload', 'after');
  first.release();
  await second.reached;
  bot().slack.script.drop('files.upload');
  second.release();
  await waitForPost(ops, says.posted(4));
  const { files } = await parts();
  const joined = files.map(({ bytes }, nth) => (nth === 0 ? bytes : withoutHeader(bytes)));
  expect(Buffer.concat(joined).equals(log)).toBe(true);
  expect(exportRequests()).toHaveLength(2);
  await expectEmptySpool();
});
