import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type CdnSimulator, startCdn } from '../simulator/cdn/server.ts';
import { type SlackSimulator, startSlack } from '../simulator/slack/server.ts';
import { environment } from './bot.ts';
import { type BotProcess, startProcess } from './process.ts';
import { filesIn, openForm, people, places, saveSettings, send } from './slack/export-bot.ts';

const { alice } = people;
const { ops } = places;
let slack: SlackSimulator;
let cdn: CdnSimulator;
let dataDir: string;
let running: BotProcess;

const start = async (): Promise<void> => {
  running = startProcess(environment({ slack, cdn, dataDir }));
  await running.printed('"ready"');
};

beforeAll(async () => {
  [slack, cdn, dataDir] = await Promise.all([
    startSlack(),
    startCdn({ zones: 5 }),
    mkdtemp(join(tmpdir(), 'chatops-')),
  ]);
  await start();
  const person = slack.as(alice, ops);
  await person.slash('connect');
  await person.waitForModal(/key/i);
  await person.submit({ accessKey: cdn.key });
  await person.waitForModal(/connected/i);
  await person.closeModal();
  await saveSettings(slack, { operators: [alice] });
});
afterEach(() => cdn.faults.clear());
afterAll(async () => {
  await running.end('SIGTERM');
  await Promise.all([slack.close(), cdn.close()]);
  await rm(dataDir, { recursive: true, force: true });
});

const uploaded = { files: 'in 1 file below', count: 1 };

/** Where the process is killed: how to stop it there, and what people find once it runs again. */
const steps: readonly {
  where: string;
  stop: () => { reached: Promise<void>; release: () => void };
  finds: { files: string; count: number };
}[] = [
  {
    where: 'before the CDN has sent anything',
    stop: () => holdService({ until: 'request' }),
    finds: uploaded,
  },
  { where: 'while the CDN sends', stop: () => holdService({ until: 'body' }), finds: uploaded },
  {
    where: 'before the file is announced',
    stop: () => slack.script.hold('files.getUploadURLExternal', 'before'),
    finds: uploaded,
  },
  {
    where: 'while the file is on its way',
    stop: () => slack.script.hold('files.upload', 'before'),
    finds: uploaded,
  },
  {
    where: 'after Slack has shown the file and before the bot knows',
    stop: () => slack.script.hold('files.completeUploadExternal', 'after'),
    finds: { files: 'may have been posted', count: 1 },
  },
  {
    where: 'before Slack is told to show it, with the telling under way',
    stop: () => slack.script.hold('files.completeUploadExternal', 'before'),
    finds: { files: 'may have been posted', count: 0 },
  },
  {
    where: 'after its end was written down and before its message tells it',
    stop: () => slack.script.hold('chat.update', 'before'),
    finds: uploaded,
  },
];

function holdService({ until }: { until: 'request' | 'body' }): {
  reached: Promise<void>;
  release: () => void;
} {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const hold = { afterBytes: until === 'body' ? 4000 : 0, until: released.promise, reached: reached.resolve };
  cdn.faults.add({ match: { path: /export$/ }, hold });
  return { reached: reached.promise, release: () => released.resolve() };
}

test.each(steps)('killed $where, it ends with one message and no file twice', async ({ stop, finds }) => {
  const person = slack.as(alice, ops);
  const before = new Set(person.messages().map(({ ts }) => ts));
  const isNew = ({ ts }: { ts: string }): boolean => !before.has(ts);
  const held = stop();
  await openForm(person);
  await send(person, { channel: ops });
  await held.reached;
  await running.end('SIGKILL');
  expect(await readdir(join(dataDir, 'spool')).catch(() => [])).toEqual([]);
  // A call that hung in the air with the process is not carried out any more, unless it had been.
  if (finds.count === 1 || finds.files !== 'may have been posted') held.release();
  await start();
  const told = await person.waitForMessage(
    (message) => isNew(message) && message.reads.includes(finds.files),
    30_000,
  );
  expect(filesIn(slack, ops).filter(isNew)).toHaveLength(finds.count);
  const progress = person
    .messages()
    .filter((message) => isNew(message) && !message.ephemeral && message.files.length === 0);
  expect(progress.map(({ ts }) => ts)).toEqual([told.ts]);
  expect(slack.problems).toEqual([]);
});

test('killed while its message is being posted, it goes on once that is settled: one message, one file', async () => {
  const person = slack.as(alice, ops);
  const before = new Set(person.messages().map(({ ts }) => ts));
  const isNew = ({ ts }: { ts: string }): boolean => !before.has(ts);
  // Of one Slack has posted the message, of the other nothing is there.
  const posted = slack.script.hold('chat.postMessage', 'after');
  await openForm(person);
  await person.submit({ channel: ops, query: 'wp-login' });
  await posted.reached;
  const unposted = slack.script.hold('chat.postMessage', 'before');
  await person.closeModal();
  await openForm(person);
  await person.submit({ channel: ops, query: 'checkout' });
  await unposted.reached;
  await running.end('SIGKILL');
  posted.release();
  while (person.modal()) await person.closeModal();
  await start();
  const told = (): string[] =>
    person
      .messages()
      .filter((message) => isNew(message) && !message.ephemeral && message.files.length === 0)
      .map(({ reads }) => reads);
  for (const query of ['wp-login', 'checkout'])
    await person.waitForMessage(
      (message) => isNew(message) && new RegExp(`in 1 file below.*${query}`, 's').test(message.reads),
      40_000,
    );
  expect(told()).toHaveLength(2);
  expect(filesIn(slack, ops).filter(isNew)).toHaveLength(2);
  expect(slack.problems).toEqual([]);
}, 60_000);

test('killed after somebody has cancelled it and before it has ended, it is not begun again', async () => {
  const person = slack.as(alice, ops);
  const before = new Set(person.messages().map(({ ts }) => ts));
  const held = holdService({ until: 'body' });
  await openForm(person);
  await send(person, { channel: ops });
  await held.reached;
  const asked = cdn.requests.length;
  await person.press('event-logs:cancel:0');
  await person.waitForMessage(({ ts, reads }) => !before.has(ts) && reads.includes('is being stopped'));
  await running.end('SIGKILL');
  held.release();
  await start();
  await person.waitForMessage(
    ({ ts, reads }) => !before.has(ts) && /was stopped; nothing was posted.*Cancelled by/s.test(reads),
    30_000,
  );
  expect(cdn.requests.slice(asked).filter(({ path }) => path.endsWith('/export'))).toEqual([]);
  expect(filesIn(slack, ops).filter(({ ts }) => !before.has(ts))).toEqual([]);
});

test('stopped in good order it goes on after the start, with the same message', async () => {
  const person = slack.as(alice, ops);
  const before = new Set(person.messages().map(({ ts }) => ts));
  const held = holdService({ until: 'body' });
  await openForm(person);
  await send(person, { channel: ops });
  await held.reached;
  await running.end('SIGTERM');
  const paused = person.messages().filter(({ ts }) => !before.has(ts));
  expect(paused.map(({ reads }) => reads)).toEqual([expect.stringContaining('this goes on by itself')]);
  await start();
  const told = await person.waitForMessage(
    ({ ts, reads }) => !before.has(ts) && /in 1 file below/.test(reads),
    30_000,
  );
  expect(told.ts).toBe(paused[0]?.ts);
  expect(filesIn(slack, ops).filter(({ ts }) => !before.has(ts))).toHaveLength(1);
});
