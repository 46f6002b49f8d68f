import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { CdnSimulator } from '../../../simulator/cdn/server.ts';
import { registerSecrets } from '../../../src/secrets/secret.ts';
import { channels, exportAgain, openForm, saveSettings, submitForm, users } from './bot.ts';
import { useExportHarness } from './harness.ts';
import { mountSmallDisk } from './small-disk.ts';
import { answers, logged, readExport, readProblem, says } from './words.ts';

const { alice } = users;
const { ops, deploys, random } = channels;
const {
  bot,
  exportRequests,
  callsTo,
  exportTo,
  holdExport,
  expectNothingLeft,
  newFiles,
  expectEmptySpool,
  waitForPost,
  pass,
} = await useExportHarness();

const cdnFails = (fault: Omit<Parameters<CdnSimulator['faults']['add']>[0], 'match'>) => () =>
  bot.cdn.faults.add({ match: { path: /export$/ }, ...fault });
const slackFails = (method: string, code: string) => () => bot.slack.script.fail(method, code);

test.each([
  ['the upload breaks off', 'the log is read again', 2, () => bot.slack.script.drop('files.upload')],
  [
    'Slack pauses',
    'the finished file waits',
    1,
    () => bot.slack.script.rateLimit('files.completeUploadExternal', 1),
  ],
] as const)('%s: %s, and one file arrives', async (_, __, reads, breaks) => {
  breaks();
  await exportTo(ops);
  await waitForPost(ops, says.posted());
  expect(newFiles(ops)).toHaveLength(1);
  expect(exportRequests()).toHaveLength(reads);
  await expectEmptySpool();
});

/** Changes members of something until the test ends. */
function change(target: object | undefined, members: object): void {
  if (!target) throw new Error('there is nothing to change');
  const before = Object.fromEntries(Object.keys(members).map((name) => [name, Reflect.get(target, name)]));
  Object.assign(target, members);
  onTestFinished(() => void Object.assign(target, before));
}
const opsChannel = () => bot.slack.world.channels.get(ops);

test.each([
  ['the key is refused', cdnFails({ status: 401 })],
  ['Slack refuses to show the file', slackFails('files.completeUploadExternal', 'is_archived')],
  [
    'the log has more than a gigabyte',
    () => change(bot.cdn.data.eventLogs, { bytes: 1_500_000_000, announceLength: true }),
  ],
] as const)('%s: that is told with a next step, and nothing is there', async (_, breaks) => {
  breaks();
  await exportTo(ops);
  expect(readExport(await waitForPost(ops, says.failed))).toMatchSnapshot();
  await expectNothingLeft();
});

// What else may happen meanwhile: `exports.test.ts`.
test('meanwhile its channel is archived: that is told, and nothing is posted', async () => {
  const held = holdExport();
  await exportTo(ops);
  await held.reached;
  change(opsChannel(), { archived: true });
  held.release();
  expect(readExport(await waitForPost(`D${alice}`, says.failed))).toMatchSnapshot();
  await expectNothingLeft();
});

test('a window that the service refuses is no bad key: the form offers what the CDN takes of it', async () => {
  const { eventLogs } = bot.cdn.data;
  Object.assign(eventLogs, { bindStart: true, windowRefusal: 401 });
  onTestFinished(() => {
    eventLogs.bindStart = false;
  });
  await exportTo(ops, { from: Math.floor(Date.now() / 1000) - 80 * 3600 });
  const told = await waitForPost(ops, says.failed);
  expect(readExport(told)).toMatchSnapshot('of the message');
  const person = bot.slack.as(alice, ops);
  await person.press('event-logs:change:0', { ts: told.ts });
  expect(readProblem(await person.waitForModal('event-logs:submit'))).toMatchSnapshot('of the form');
  await submitForm(person);
  await waitForPost(ops, says.posted());
});

test('a first message that is refused: the person hears it, and the CDN is not asked', async () => {
  bot.slack.script.fail('chat.postMessage', 'restricted_action');
  await exportTo(ops);
  expect(readExport(await waitForPost(`D${alice}`, says.failed))).toMatchSnapshot();
  expect(exportRequests()).toEqual([]);
  await expectNothingLeft();
});

test('a first message without an answer: the person hears it, and the CDN is not asked', async () => {
  bot.slack.script.drop('chat.postMessage');
  await exportTo(undefined);
  const isInDoubt = () => bot.logs.some((line) => line.includes(logged.inDoubt));
  await expect.poll(isInDoubt, { timeout: 20_000 }).toBe(true);
  pass(25_000);
  expect(readExport(await waitForPost(`D${alice}`, says.notBegun))).toMatchSnapshot();
  expect(exportRequests()).toEqual([]);
  await expectNothingLeft();
});

test('a disk that is full is told, nothing is left on it, and the same export is one form away', async ({
  skip,
}) => {
  const disk = await mountSmallDisk(join(bot.env['DATA_DIR'] ?? '', 'spool'), 1_000_000);
  if (typeof disk === 'string') return skip(disk);
  onTestFinished(disk.unmount);
  Object.assign(bot.cdn.data.eventLogs, { bytes: 3_000_000 });
  await exportTo(ops);
  const told = await waitForPost(ops, says.failed);
  await expect.poll(disk.usedBytes).toBe(0);
  await expectNothingLeft();
  await disk.unmount();
  Object.assign(bot.cdn.data.eventLogs, { bytes: undefined });
  await exportAgain(bot.slack.as(alice, ops), told);
  await waitForPost(ops, says.posted());
});

test('where nobody knows whether the file was shown it is said, and not tried again', async () => {
  bot.slack.script.drop('files.completeUploadExternal');
  await exportTo(ops);
  expect(readExport(await waitForPost(ops, says.inDoubt))).toMatchSnapshot();
  expect(newFiles(ops)).toHaveLength(1);
  expect(callsTo('files.completeUploadExternal')).toHaveLength(1);
});

test('where exports may go is decided for the form and for the file', async () => {
  await saveSettings(bot.slack, { exportChannels: [deploys] });
  const refused = [await exportTo(ops), await exportTo(undefined)];
  expect(refused.map(({ callback_id: id }) => id)).toEqual(['event-logs:submit', 'event-logs:submit']);
  expect(refused.map(readProblem)).toMatchSnapshot('of the form');
  const held = holdExport();
  await exportTo(deploys);
  await held.reached;
  await saveSettings(bot.slack, { exportChannels: [random] });
  held.release();
  expect(readExport(await waitForPost(deploys, says.failed))).toMatchSnapshot('of the file');
  await expectNothingLeft();
  await saveSettings(bot.slack, { exportChannels: [] });
});

const reference = /Reference (\w{8})/;

/** The log has the reference that people read, and nothing that they may not. */
function expectLogged(reads: string, secret: string): void {
  const [, id = 'none'] = reference.exec(reads) ?? [];
  expect(bot.logs.some((line) => line.includes(id) && line.includes(logged.heldBack))).toBe(true);
  expect(JSON.stringify([bot.logs, bot.slack.as(alice).messages()])).not.toContain(secret);
}

// The other forms of a file: `worker/gather.test.ts`.
test('a log in which the person’s key stands ends at once, once, with a sentence', async () => {
  const { key } = bot.cdn;
  const log = `timestamp,action,ip,url\n2026-11-20T10:00:00Z,blocked,203.0.113.7,/x?AccessKey=${key}\n`;
  bot.cdn.faults.add({ match: { path: /export$/ }, body: log, headers: { 'content-type': 'text/csv' } });
  await exportTo(ops);
  const told = await waitForPost(ops, says.failed);
  expect(readExport(told)).toMatchSnapshot();
  expectLogged(told.reads, key);
  expect(exportRequests()).toHaveLength(1);
  expect(callsTo('files.getUploadURLExternal')).toEqual([]);
  await expectNothingLeft();
});

test('words beside the files that became secret meanwhile: the same, and they are not told either', async () => {
  const typed = 'a-token-of-somebody-0123456789abcdef';
  const held = bot.slack.script.hold('files.upload', 'before');
  const log = 'timestamp,action\n2026-11-20T10:00:00Z,blocked\n';
  bot.cdn.faults.add({ match: { path: /export$/ }, body: log, headers: { 'content-type': 'text/csv' } });
  await exportTo(ops, { query: typed });
  await held.reached;
  const before = bot.logs.length;
  const release = registerSecrets({ 'cdn-key': [typed] });
  held.release();
  const { reads } = await waitForPost(ops, says.heldBack);
  release();
  expect(readExport({ reads })).toMatchSnapshot();
  const [, id = 'none'] = reference.exec(reads) ?? [];
  const lines = bot.logs.slice(before);
  expect(lines.some((line) => line.includes(id) && line.includes(logged.heldBack))).toBe(true);
  expect(JSON.stringify([reads, lines])).not.toContain(typed);
  expect(exportRequests()).toHaveLength(1);
  expect(callsTo('files.completeUploadExternal')).toEqual([]);
  await expectNothingLeft();
});

test('a token in use that is typed into the search is refused in words, and neither posted nor kept', async () => {
  // No key by its looks: those are refused in their field.
  const key = 'a-token-of-somebody-9876543210fedcba';
  const release = registerSecrets({ 'slack-token': [key] });
  const person = bot.slack.as(alice, ops);
  await openForm(person);
  const refused = await submitForm(person, { channel: ops, query: key });
  expect(refused.callback_id).toBe('event-logs:submit');
  expect(readProblem(refused)).toMatchSnapshot();
  expect(JSON.stringify([bot.logs, refused])).not.toContain(key);
  expect(exportRequests()).toEqual([]);
  expect(newFiles(ops)).toEqual([]);
  await person.slash('export list');
  expect((await person.waitForMessage(answers.list('none'))).reads).not.toContain(key);
  release();
  await expectNothingLeft();
});
