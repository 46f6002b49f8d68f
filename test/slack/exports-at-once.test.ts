import { expect, test } from 'vitest';
import { openForm, people, places } from './export-bot.ts';
import { exportDesk } from './export-desk.ts';

const { alice } = people;
const { ops, deploys } = places;
const desk = exportDesk();
const { bot, asked, called, exportTo, holdService, isNew, leavesNothing, shared, spoolIsEmpty, tells } = desk;

test('a button that is pressed twice at once begins one export, and says so', async () => {
  bot().slack.script.fail('files.getUploadURLExternal', 'file_uploads_disabled');
  await exportTo(ops);
  const told = await tells(ops, /did not work/);
  const held = holdService();
  const person = bot().slack.as(alice, ops);
  const press = () => person.press('event-logs:again:0', { ts: told.ts });
  await Promise.all([press(), press()]);
  await person.waitForMessage(/The same export is under way already/);
  await held.reached;
  held.release();
  await tells(ops, /in 1 file below/);
  expect(shared(ops)).toHaveLength(1);
  expect(asked()).toHaveLength(2);
  await spoolIsEmpty();
});

test('three at once by one person come each to its end; a fourth is not taken, and the form comes back', async () => {
  const held = [holdService(), holdService(), holdService()];
  await exportTo(ops, { query: 'wp-login' });
  await exportTo(deploys, { query: 'wp-login' });
  await exportTo(undefined, { query: 'checkout' });
  const person = bot().slack.as(alice, ops);
  await openForm(person);
  await person.submit({ channel: ops, query: 'one too many' });
  const back = await person.waitForModal(/You have 3 exports under way/);
  expect(back.state.values['query']?.['query']).toMatchObject({ value: 'one too many' });
  while (person.modal()) await person.closeModal();
  for (const { release } of held) release();
  await tells(ops, /in 1 file below/);
  await tells(deploys, /in 1 file below/);
  await tells(`D${alice}`, /in 1 file below/);
  for (const channel of [ops, deploys, `D${alice}`]) expect(shared(channel)).toHaveLength(1);
  await spoolIsEmpty();
});

test('cancelled before its message is there, that message says so when it comes', async () => {
  const held = bot().slack.script.hold('chat.postMessage', 'after');
  const person = bot().slack.as(alice, ops);
  await openForm(person);
  await person.submit({ channel: ops });
  await held.reached;
  await person.closeModal();
  await person.slash('export list');
  const list = await person.waitForMessage(
    (message) => isNew(message) && message.ephemeral && /starting/.test(message.reads),
  );
  await person.press('event-logs:cancel:0', { ts: list.ts });
  await person.waitForMessage(/was cancelled; nothing was posted/);
  held.release();
  await tells(ops, /was stopped; nothing was posted.*Cancelled by @Alice Adams/s);
  expect(asked()).toEqual([]);
  await leavesNothing();
});

test('told to stop just before the CDN asks for a pause, it is stopped and does not wait', async () => {
  const until = Promise.withResolvers<void>();
  bot().cdn.faults.add({ match: { path: /export$/ }, until: until.promise, status: 429, retryAfter: 300 });
  await exportTo(ops);
  await expect.poll(() => asked().length).toBe(1);
  const person = bot().slack.as(alice, ops);
  await person.press('event-logs:cancel:0');
  await person.waitForMessage(/is being stopped/);
  until.resolve();
  await tells(ops, /was stopped; nothing was posted/);
  expect(JSON.stringify(called('chat.update'))).not.toContain('Trying again');
  await leavesNothing();
});

test('pressed twice, cancel is answered twice, and the export ends once', async () => {
  const held = holdService();
  await exportTo(ops);
  await held.reached;
  const person = bot().slack.as(alice, ops);
  await Promise.all([person.press('event-logs:cancel:0'), person.press('event-logs:cancel:0')]);
  const { ts } = await tells(ops, /was stopped; nothing was posted/);
  held.release();
  expect(
    called('chat.update').filter(({ args }) => JSON.stringify(args).includes('was stopped')),
  ).toHaveLength(1);
  expect(
    JSON.stringify(
      desk
        .bot()
        .slack.as(alice, ops)
        .messages()
        .find((one) => one.ts === ts)?.blocks,
    ),
  ).not.toContain('event-logs:cancel');
  await leavesNothing();
});
