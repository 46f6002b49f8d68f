import { describe, expect, test } from 'vitest';
import { disconnect } from '../../support/bot.ts';
import { channels, openForm, submitForm, users } from './bot.ts';
import { useExportHarness } from './harness.ts';
import { answers, readExport, readProblem, recorded, says } from './words.ts';

const { alice } = users;
const { ops, deploys } = channels;
const {
  bot,
  exportRequests,
  callsTo,
  exportTo,
  holdExport,
  isNew,
  expectNothingLeft,
  newFiles,
  expectEmptySpool,
  waitForPost,
} = await useExportHarness();

test('three at once by one person come each to its end; a fourth is not taken, and the form comes back', async () => {
  const held = [holdExport(), holdExport(), holdExport()];
  await exportTo(ops, { query: 'wp-login' });
  await exportTo(deploys, { query: 'wp-login' });
  await exportTo(undefined, { query: 'checkout' });
  const person = bot.slack.as(alice, ops);
  await openForm(person);
  const back = await submitForm(person, { channel: ops, query: 'fourth' });
  expect(back.callback_id).toBe('event-logs:submit');
  expect(readProblem(back)).toMatchSnapshot();
  expect(back.state.values['query']?.['query']).toMatchObject({ value: 'fourth' });
  for (const { release } of held) release();
  await waitForPost(ops, says.posted());
  await waitForPost(deploys, says.posted());
  await waitForPost(`D${alice}`, says.posted());
  for (const channel of [ops, deploys, `D${alice}`]) expect(newFiles(channel)).toHaveLength(1);
  await expectEmptySpool();
});

describe('cancelling', () => {
  // While the CDN sends, or the file is on its way to Slack: `retention.test.ts`, `exports.test.ts`.
  test('between two attempts: it is not tried again', async () => {
    bot.cdn.faults.add({ match: { path: /export$/ }, status: 429, retryAfter: 300, times: 9 });
    await exportTo(ops);
    await waitForPost(ops, says.retriesIn(300));
    await bot.slack.as(alice, ops).press('event-logs:cancel:0');
    await waitForPost(ops, says.cancelled);
    await expectNothingLeft();
  });

  test('when Slack is being told to show the file it is too late, and that is said', async () => {
    const held = bot.slack.script.hold('files.completeUploadExternal', 'before');
    await exportTo(ops);
    await held.reached;
    const person = bot.slack.as(alice, ops);
    await person.press('event-logs:cancel:0');
    await person.waitForMessage(answers.tooLate);
    held.release();
    await waitForPost(ops, says.posted());
  });

  test('the list shows what runs and what ran, each with its way to stop', async () => {
    const held = holdExport();
    await exportTo(deploys);
    await held.reached;
    const person = bot.slack.as(alice, ops);
    await person.slash('export list');
    const list = await person.waitForMessage(
      (message) => isNew(message) && answers.list(1).test(message.reads),
    );
    expect(list.ephemeral).toBe(true);
    await person.press('event-logs:cancel:0', { ts: list.ts });
    await waitForPost(deploys, says.cancelled);
    await expectNothingLeft();
  });

  test('cancelled before its message is there, that message says so when it comes', async () => {
    const held = bot.slack.script.hold('chat.postMessage', 'after');
    const person = bot.slack.as(alice, ops);
    await openForm(person);
    await person.submit({ channel: ops });
    await held.reached;
    await person.closeModal();
    await person.slash('export list');
    const list = await person.waitForMessage(
      (message) => isNew(message) && message.ephemeral && answers.list(1).test(message.reads),
    );
    await person.press('event-logs:cancel:0', { ts: list.ts });
    await person.waitForMessage((message) => isNew(message) && answers.cancelled.test(message.reads));
    held.release();
    expect(readExport(await waitForPost(ops, says.cancelled))).toMatchSnapshot();
    expect(exportRequests()).toEqual([]);
    await expectNothingLeft();
  });

  test('cancelled just before the CDN asks for a pause, it does not wait', async () => {
    const until = Promise.withResolvers<void>();
    bot.cdn.faults.add({ match: { path: /export$/ }, until: until.promise, status: 429, retryAfter: 300 });
    await exportTo(ops);
    await expect.poll(() => exportRequests().length).toBe(1);
    const person = bot.slack.as(alice, ops);
    const { ts } = await waitForPost(ops, says.asking);
    await person.press('event-logs:cancel:0', { ts });
    await person.waitForMessage((message) => message.ts === ts && says.cancelled.test(message.reads));
    until.resolve();
    await expectNothingLeft();
    expect(JSON.stringify(callsTo('chat.update'))).not.toMatch(says.retriesIn(undefined));
  });

  test('pressed twice, the export ends once, and a third press hears that it has ended', async () => {
    const held = holdExport();
    await exportTo(ops);
    await held.reached;
    const person = bot.slack.as(alice, ops);
    const { ts } = await waitForPost(ops, says.asking);
    await Promise.all([1, 2, 3].map(() => person.press('event-logs:cancel:0', { ts })));
    await waitForPost(ops, says.cancelled);
    held.release();
    await person.waitForMessage((message) => isNew(message) && answers.over.test(message.reads));
    await person.slash('audit 50');
    const { reads } = await person.waitForMessage(/\d+ records/);
    expect(reads).toMatch(recorded.cancelledByAlice);
    await expectNothingLeft();
  });

  // The last: the key is gone.
  test('disconnecting the key ends it', async () => {
    const held = holdExport();
    await exportTo(ops);
    await held.reached;
    const person = bot.slack.as(alice, ops);
    await disconnect(person);
    held.release();
    expect((await waitForPost(ops, says.notPosted)).reads).toMatch(/key/);
    await expectNothingLeft();
  });
});
