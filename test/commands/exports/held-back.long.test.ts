import { expect, test } from 'vitest';
import { registerSecrets } from '../../../src/secrets/secret.ts';
import { channels, openForm, submitForm, users } from './bot.ts';
import { useExportHarness } from './harness.ts';
import { answers, logged, readExport, readProblem, says } from './words.ts';

const { alice } = users;
const { ops } = channels;
const { bot, exportRequests, callsTo, exportTo, expectNothingLeft, newFiles, waitForPost } =
  useExportHarness();

const reference = /Reference (\w{8})/;

/** The log has the reference that people read, and nothing that they may not. */
function expectLogged(reads: string, secret: string): void {
  const [, id = 'none'] = reference.exec(reads) ?? [];
  expect(bot().logs.some((line) => line.includes(id) && line.includes(logged.heldBack))).toBe(true);
  expect(JSON.stringify([bot().logs, bot().slack.as(alice).messages()])).not.toContain(secret);
}

// The other forms of a file: `worker/gather.test.ts`.
test('a log in which the person’s key stands ends at once, once, with a sentence', async () => {
  const { key } = bot().cdn;
  const log = `timestamp,action,ip,url\n2026-11-20T10:00:00Z,blocked,203.0.113.7,/x?AccessKey=${key}\n`;
  bot().cdn.faults.add({ match: { path: /export$/ }, body: log, headers: { 'content-type': 'text/csv' } });
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
  const held = bot().slack.script.hold('files.upload', 'before');
  const log = 'timestamp,action\n2026-11-20T10:00:00Z,blocked\n';
  bot().cdn.faults.add({ match: { path: /export$/ }, body: log, headers: { 'content-type': 'text/csv' } });
  await exportTo(ops, { query: typed });
  await held.reached;
  const before = bot().logs.length;
  const release = registerSecrets({ 'cdn-key': [typed] });
  held.release();
  const { reads } = await waitForPost(ops, says.heldBack);
  release();
  expect(readExport({ reads })).toMatchSnapshot();
  const [, id = 'none'] = reference.exec(reads) ?? [];
  const lines = bot().logs.slice(before);
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
  const person = bot().slack.as(alice, ops);
  await openForm(person);
  const refused = await submitForm(person, { channel: ops, query: key });
  expect(refused.callback_id).toBe('event-logs:submit');
  expect(readProblem(refused)).toMatchSnapshot();
  expect(JSON.stringify([bot().logs, refused])).not.toContain(key);
  expect(exportRequests()).toEqual([]);
  expect(newFiles(ops)).toEqual([]);
  await person.slash('export list');
  expect((await person.waitForMessage(answers.list('none'))).reads).not.toContain(key);
  release();
  await expectNothingLeft();
});
