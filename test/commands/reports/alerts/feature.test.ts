import { expect, test } from 'vitest';
import { connect, startBot } from '../../../support/bot.ts';
import { readStable } from '../../../support/words.ts';

const [alice, bob, ops] = ['U0ALICE00', 'U0BOB0000', 'C0OPS0000'];

test('an alert is made, tells its channel, is acknowledged, snoozed and explained', async () => {
  await using bot = await startBot({ zones: 4 });
  await connect(bot, alice, ops);
  for (const zone of bot.cdn.data.zones) Object.assign(zone, { Enabled: true, Suspended: false });
  const owner = bot.slack.as(alice, ops);
  await owner.slash('alert new disabled');
  const form = await owner.waitForModal('alerts:submit');
  expect(readStable(form)).toMatchSnapshot('form');
  const wrong = await owner.submit({ hours: 'sometimes' });
  expect(Object.keys(wrong.errors ?? {})).toEqual(['hours']);
  await owner.submit({ hours: '', people: [bob] });
  const saved = await owner.waitForModal('alerts:done');
  const id = /(?<=Alert )\w{5}/u.exec(saved.reads)?.[0] ?? '';
  expect(readStable(saved, { id })).toMatchSnapshot('saved');
  await owner.closeModal();

  const [zone] = bot.cdn.data.zones;
  if (zone) zone.Enabled = false;
  await owner.slash(`alert check ${id}`);
  const onCall = bot.slack.as(bob, ops);
  const incident = await onCall.waitForMessage(({ reads }) => reads.startsWith(':rotating_light:'));
  expect(readStable(incident, { id })).toMatchSnapshot('incident');

  await onCall.press('alerts:acknowledge', { ts: incident.ts });
  const current = () => onCall.messages().find(({ ts }) => ts === incident.ts)?.reads ?? '';
  await expect.poll(current).toContain(':eyes:');
  await onCall.slash(`alert snooze ${id} 2h`);
  await expect.poll(current).toContain(':zzz:');
  expect(readStable(current(), { id })).toMatchSnapshot('acknowledged and snoozed');

  await onCall.slash(`alert pause ${id}`);
  const refused = await onCall.waitForMessage(({ reads }) => reads.includes('who owns this alert'));
  expect(readStable(refused, { id })).toMatchSnapshot('not his');
  await owner.slash('alert list');
  const list = await owner.waitForMessage(({ reads }) => /^\W*1 alert/u.test(reads));
  expect(readStable(list, { id })).toMatchSnapshot('list');
  expect(bot.slack.problems).toEqual([]);
});

test('another condition has other fields, and trying it shows the figures to its maker alone', async () => {
  await using bot = await startBot({ zones: 4 });
  await connect(bot, alice, ops);
  const owner = bot.slack.as(alice, ops);
  await owner.slash('alert new');
  await owner.waitForModal('alerts:submit');
  await owner.choose('condition', 'errors-rise');
  const rise = await owner.waitForModal(({ reads }) => reads.includes('of what is usual'));
  // A window means something else in another condition.
  expect(rise.reads).toContain('30 minutes');
  await owner.choose('condition', 'zone-limit');
  const limit = await owner.waitForModal(({ blocks }) =>
    JSON.stringify(blocks).includes('threshold:zone-limit'),
  );
  expect(readStable(limit)).toMatchSnapshot('form');
  await owner.press('alerts:try');
  const tried = await owner.waitForModal('alerts:tried');
  expect(readStable(tried)).toMatchSnapshot('tried');
  expect(bot.slack.problems).toEqual([]);
});

test('an alert names its zone in the form’s answer, the announcement, the list and the incident', async () => {
  await using bot = await startBot({ zones: 4 });
  await connect(bot, alice, ops);
  const owner = bot.slack.as(alice, ops);
  await owner.slash('watch new disabled');
  await owner.waitForModal('alerts:submit');
  await owner.suggest('target:zones', 'media');
  const [zone] = bot.cdn.data.zones.filter(({ Name }) => Name === 'media');
  await owner.choose('target:zones', [String(zone?.Id)]);
  await owner.submit({ hours: '' });
  const saved = await owner.waitForModal('alerts:done');
  await owner.closeModal();
  expect(saved.reads).toContain('in media');
  const announced = await owner.waitForMessage(({ reads }) => reads.includes('added an alert'));
  expect(announced.reads).toContain('in media');
  await owner.slash('alert list');
  const list = await owner.waitForMessage(({ reads }) => /^\W*1 alert/u.test(reads));
  expect(list.reads).toContain('in media');
});

test('an alert for a channel that other organisations read is not saved', async () => {
  await using bot = await startBot({ zones: 2 });
  await connect(bot, alice, ops);
  const owner = bot.slack.as(alice, ops);
  await owner.slash('alert new disabled');
  const form = await owner.waitForModal('alerts:submit');
  await owner.submit({ hours: '', channel: 'C0SHARED0' });
  const again = await owner.waitForModal(
    ({ hash, callback_id: id }) => id === 'alerts:submit' && hash !== form.hash,
  );
  expect(readStable(again).split('\n').slice(0, 2)).toMatchSnapshot();
  await owner.closeModal();
});

test('an alert mentions only user groups that its maker is in', async () => {
  await using bot = await startBot({ zones: 2 });
  await connect(bot, bob, ops);
  const owner = bot.slack.as(bob, ops);
  await owner.slash('alert new disabled');
  const form = await owner.waitForModal('alerts:submit');
  await owner.suggest('groups', 'o');
  await owner.choose('groups', ['S0OPERATE', 'S0APPROVE']);
  await owner.submit({ hours: '' });
  const again = await owner.waitForModal(
    ({ hash, callback_id: id }) => id === 'alerts:submit' && hash !== form.hash,
  );
  expect(readStable(again).split('\n').slice(0, 2)).toMatchSnapshot();
  await owner.suggest('groups', 'o');
  await owner.choose('groups', ['S0OPERATE']);
  await owner.submit({ hours: '' });
  await owner.waitForModal('alerts:done');
});

test.each(['alert errors', 'alert nonsense', 'alert pause', 'alert pause zzzzz', 'alert snooze zzzzz soon'])(
  'what cannot be done says what can: %s',
  async (words) => {
    const bot = await startBot({ zones: 2 });
    try {
      await connect(bot, alice, ops);
      const owner = bot.slack.as(alice, ops);
      const before = owner.messages().length;
      await owner.slash(words);
      await expect.poll(() => owner.messages().length).toBeGreaterThan(before);
      expect(readStable(owner.messages().at(-1)?.reads ?? '')).toMatchSnapshot();
    } finally {
      await bot.stop();
    }
  },
);
