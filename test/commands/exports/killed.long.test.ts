import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { VisibleMessage } from '../../../simulator/slack/messages.ts';
import type { Held } from '../../../simulator/slack/script.ts';
import { followMessages } from '../../support/bot.ts';
import { prepareEngines } from '../../support/engines.ts';
import { prepareKilledBot } from '../../support/killed-bot.ts';
import { channels, openForm, saveSettings, users } from './bot.ts';
import { answers, recorded, says } from './words.ts';

const { alice } = users;
const { ops } = channels;
// Workers of PostgreSQL die in `replicas.long`.
const { embedded } = await prepareEngines();

const running = await prepareKilledBot(await embedded.createLocation());
const { slack, cdn, env, start } = running;
let findNew: () => VisibleMessage[];

beforeAll(async () => {
  await start();
  await running.connect(alice, ops);
  await saveSettings(slack, { operators: [alice] });
}, 60_000);
beforeEach(() => {
  findNew = followMessages(slack.as(alice, ops)).all;
});
afterEach(() => cdn.faults.clear());
afterAll(() => running.stop());

async function kill(): Promise<void> {
  await running.kill();
  expect(await readdir(join(env['DATA_DIR'] ?? '', 'spool')).catch(() => [])).toEqual([]);
}

/** What came of an export in this test and is there for everybody. */
function findMessages(query: string): VisibleMessage[] {
  return findNew().filter(({ ephemeral, reads }) => !ephemeral && reads.includes(`“${query}”`));
}

/** Alice asks for an export, as far as it comes. */
async function ask(query: string, held: Held): Promise<Held> {
  const person = slack.as(alice, ops);
  await openForm(person);
  await person.submit({ channel: ops, query });
  await held.reached;
  while (person.modal()) await person.closeModal();
  return held;
}

/** Waits for an end: how many messages tell it and nothing else, and how many have files. */
async function readEnd(query: string, end: RegExp): Promise<{ told: number; files: number }> {
  await slack
    .as(alice, ops)
    .waitForMessage(() => findMessages(query).some(({ reads }) => end.test(reads)), 60_000);
  expect(slack.problems).toEqual([]);
  const messages = findMessages(query);
  const told = messages.filter((message) => message.files.length === 0);
  for (const { reads } of told) expect(reads).toMatch(end);
  return { told: told.length, files: messages.length - told.length };
}

function holdService(): Held {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const hold = { afterBytes: 1000, until: released.promise, reached: reached.resolve };
  cdn.faults.add({ match: { path: /export$/ }, hold });
  return { reached: reached.promise, release: () => released.resolve() };
}

const hold = (method: string, when: 'before' | 'after') => slack.script.hold(method, when);
const exportRequests = () => cdn.requests.filter(({ path }) => path.endsWith('/export'));
const oneFile = { told: 1, files: 1 };

test('killed while the CDN sends, before an upload and during one: each is posted once', async () => {
  const held = [
    await ask('wp-login', holdService()),
    await ask('checkout', hold('files.getUploadURLExternal', 'before')),
    await ask('shoes', hold('files.upload', 'before')),
  ];
  await kill();
  for (const one of held) one.release();
  await start();
  for (const query of ['wp-login', 'checkout', 'shoes'])
    expect(await readEnd(query, says.posted())).toEqual(oneFile);
}, 90_000);

test('killed around the moment in which Slack shows the file: in doubt, unless its end was stored', async () => {
  const held = [
    await ask('wp-login', hold('files.completeUploadExternal', 'after')),
    // Not an update that shows progress: that one may come while the file is on its way.
    await ask('shoes', slack.script.hold('chat.update', 'before', says.posted().source)),
  ];
  // It hung in the air with the process, and is not carried out any more.
  await ask('checkout', hold('files.completeUploadExternal', 'before'));
  await kill();
  for (const one of held) one.release();
  await start();
  expect(await readEnd('wp-login', says.inDoubt)).toEqual(oneFile);
  expect(await readEnd('checkout', says.inDoubt)).toEqual({ told: 1, files: 0 });
  expect(await readEnd('shoes', says.posted())).toEqual(oneFile);
}, 90_000);

test('killed around a first message it is posted once; cancelled just before, it stays cancelled', async () => {
  const cancelled = await ask('wp-login', holdService());
  const asked = exportRequests().length;
  const person = slack.as(alice, ops);
  const { next } = followMessages(person);
  await person.press('event-logs:cancel:0');
  await next(({ reads }) => answers.cancelled.test(reads));
  const held = await ask('checkout', hold('chat.postMessage', 'after'));
  await ask('shoes', hold('chat.postMessage', 'before'));
  await kill();
  for (const one of [held, cancelled]) one.release();
  await start();
  for (const query of ['checkout', 'shoes']) expect(await readEnd(query, says.posted())).toEqual(oneFile);
  expect(await readEnd('wp-login', says.cancelledBy('Alice'))).toEqual({ told: 1, files: 0 });
  expect(exportRequests()).toHaveLength(asked + 2);
}, 90_000);

test('an export that was running in two deaths is put aside, and the person is told', async () => {
  const held = await ask('wp-login', holdService());
  await kill();
  held.release();
  const again = holdService();
  await start();
  await again.reached;
  await kill();
  again.release();
  const asked = exportRequests().length;
  await start();
  expect(await readEnd('wp-login', says.failed)).toEqual({ told: 1, files: 0 });
  expect(findMessages('wp-login')[0]?.reads).toMatch(/stopped twice/);
  expect(exportRequests()).toHaveLength(asked);
}, 90_000);

test('stopped in good order it goes on after the start, with the same message', async () => {
  await ask('wp-login', holdService());
  await running.kill('SIGTERM');
  await start();
  expect(await readEnd('wp-login', says.posted())).toEqual(oneFile);
}, 60_000);

test('each of them is in the record, once', async () => {
  const person = slack.as(alice, ops);
  const pages: string[] = [];
  for (const page of [1, 2, 3, 4, 5, 6]) {
    const { next } = followMessages(person);
    await person.slash(`audit 30 page:${page}`);
    const { reads } = await next((one) => /\d+ records/u.test(one.reads));
    if (!pages.includes(reads)) pages.push(reads);
  }
  const reads = pages.join('\n');
  expect(reads.match(recorded.inDoubt)).toHaveLength(2);
  expect(reads.match(recorded.posted)).toHaveLength(7);
  expect(reads.match(recorded.cancelledByAlice)).toHaveLength(1);
});
