import { expect, test } from 'vitest';
import { useBot } from '../../../support/bot.ts';
import { readStable } from '../../../support/words.ts';

const [alice, bob, ops] = ['U0ALICE00', 'U0BOB0000', 'C0OPS0000'] as const;

const bot = await useBot({ zones: 4 }, [alice, bob]);
for (const zone of bot.cdn.data.zones) Object.assign(zone, { Enabled: true, Suspended: false });
const [owner, onCall] = [bot.slack.as(alice, ops), bot.slack.as(bob, ops)];

test('an alert is made, tells its channel, is acknowledged, snoozed and explained, and names its zone', async () => {
  await owner.slash('watch new disabled');
  expect(readStable(await owner.waitForModal('alerts:submit'))).toMatchSnapshot('form');
  const [zone] = bot.cdn.data.zones.filter(({ Name }) => Name === 'media');
  if (!zone) throw new Error('the double has other zones');
  await owner.suggest('target:zones', 'media');
  await owner.choose('target:zones', [String(zone.Id)]);
  const wrong = await owner.submit({ hours: 'sometimes' });
  expect(Object.keys(wrong.errors ?? {})).toEqual(['hours']);
  await owner.submit({ hours: '', people: [bob] });
  const saved = await owner.waitForModal('alerts:done');
  const id = /(?<=Alert )\w{5}/u.exec(saved.reads)?.[0] ?? '';
  expect(readStable(saved, { id })).toMatchSnapshot('saved');
  await owner.closeModal();
  const announced = await owner.waitForMessage(({ reads }) => reads.includes('added an alert'));
  expect(readStable(announced, { id })).toMatchSnapshot('announced');

  zone.Enabled = false;
  await owner.slash(`alert check ${id}`);
  const incident = await onCall.waitForMessage(({ reads }) => reads.startsWith(':rotating_light:'));
  expect(readStable(incident, { id })).toMatchSnapshot('incident');

  await onCall.press('alerts:acknowledge', { ts: incident.ts });
  const current = () => onCall.messages().find(({ ts }) => ts === incident.ts)?.reads ?? '';
  await expect.poll(current).toContain(':eyes:');
  const acknowledged = await onCall.waitForMessage(/^Acknowledged/u);
  await onCall.press('alerts:undo-acknowledge', { ts: acknowledged.ts });
  await expect.poll(current).not.toContain(':eyes:');
  await onCall.press('alerts:acknowledge', { ts: incident.ts });
  await expect.poll(current).toContain(':eyes:');
  await onCall.slash(`alert snooze ${id} 2h`);
  await expect.poll(current).toContain(':zzz:');
  expect(readStable(current(), { id })).toMatchSnapshot('acknowledged and snoozed');

  await onCall.slash(`alert pause ${id}`);
  const refused = await onCall.waitForMessage(({ reads }) => reads.includes('who owns this alert'));
  expect(readStable(refused, { id })).toMatchSnapshot('not his');
  // Elsewhere than in its channel he may not read it either.
  const elsewhere = bot.slack.as(bob, `D${bob}`);
  await elsewhere.slash(`alert why ${id}`);
  await elsewhere.waitForMessage(({ reads }) => reads.includes('who owns this alert'));
  await owner.slash('alert list');
  const list = await owner.waitForMessage(({ reads }) => reads.includes('1 alert'));
  expect(readStable(list, { id })).toMatchSnapshot('list');
});

test('an edit is undone where it is told, once, and never over a later one', async () => {
  const edit = async (id: string, every: string) => {
    await owner.slash(`alert edit ${id}`);
    await owner.waitForModal(({ reads }) => reads.includes('You can undo an edit'));
    await owner.submit({ 'every:zone-state': every });
    return owner.waitForModal(({ reads }) => reads.includes('Saved'));
  };
  await owner.slash('alert new disabled');
  await owner.waitForModal('alerts:submit');
  await owner.submit();
  const { reads } = await owner.waitForModal('alerts:done');
  const id = /(?<=Alert )\w{5}/u.exec(reads)?.[0] ?? '';
  await owner.closeModal();
  await edit(id, '30');
  await owner.press('alerts:undo-edit');
  const undone = await owner.waitForModal(({ reads }) => reads.includes('Restored'));
  expect(readStable(undone, { id })).toMatchSnapshot('undone');
  await owner.closeModal();
  await edit(id, '15');
  await owner.slash(`alert pause ${id}`);
  await owner.waitForMessage(({ reads }) => reads.includes(`${id} is paused`));
  await owner.press('alerts:undo-edit');
  const refused = await owner.waitForModal(({ reads }) => reads.includes('nothing was undone'));
  expect(readStable(refused, { id })).toMatchSnapshot('changed since');
  await owner.closeModal();
  await owner.slash(`alert delete ${id}`);
});

test('another condition has other fields, and trying it shows the figures to its maker alone', async () => {
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
  expect(readStable(await owner.waitForModal('alerts:tried'))).toMatchSnapshot('tried');
  await owner.closeModal();
  await owner.closeModal();
  expect(bot.slack.problems).toEqual([]);
});

test('an alert for a channel without the bot or of several organizations, or with groups that its maker is not in, is not saved', async () => {
  await onCall.slash('alert new disabled');
  let form = await onCall.waitForModal('alerts:submit');
  const submit = async (values: Record<string, unknown>): Promise<string[]> => {
    await onCall.submit({ hours: '', ...values });
    form = await onCall.waitForModal(
      ({ hash, callback_id: id }) => id === 'alerts:submit' && hash !== form.hash,
    );
    return readStable(form).split('\n').slice(0, 2);
  };
  expect(await submit({ channel: 'C0RANDOM0' })).toMatchSnapshot('without the bot');
  expect(JSON.stringify(form.state)).toContain('C0RANDOM0');
  expect(await submit({ channel: 'C0SHARED0' })).toMatchSnapshot('shared');
  await onCall.suggest('groups', 'o');
  await onCall.choose('groups', ['S0OPERATE', 'S0APPROVE']);
  expect(await submit({ channel: ops })).toMatchSnapshot('groups');
  await onCall.suggest('groups', 'o');
  await onCall.choose('groups', ['S0OPERATE']);
  await onCall.submit({ hours: '' });
  await onCall.waitForModal('alerts:done');
  await onCall.closeModal();
});

test.each([
  ['alert on errors shop', 'Origin errors'],
  ['alert me when a certificate ends', 'Certificate expires soon'],
  ['digest zones errors', 'New digest'],
])('words that are no verb are about a new one: %s', async (words, chosen) => {
  await owner.slash(words);
  const form = await owner.waitForModal(({ reads }) => reads.includes(chosen) && reads.includes('Save'));
  expect(form.callback_id).toMatch(/s:submit$/u);
  await owner.closeModal();
});

test.each([
  'alert puase k7f3q',
  'alert k7f3q',
  'alert pause',
  'alert pause zzzzz',
  'alert stop zzzzz',
  'alert snooze zzzzz soon',
  'alert test zzzzz',
  'digest test zzzzz',
])('what cannot be done says what can: %s', async (words) => {
  const before = owner.messages().length;
  await owner.slash(words);
  await expect.poll(() => owner.messages().length).toBeGreaterThan(before);
  expect(readStable(owner.messages().at(-1)?.reads ?? '')).toMatchSnapshot();
});

test('a digest posts only above a number that its form has, and what is saved says when it runs', async () => {
  await owner.slash('digest new');
  await owner.waitForModal('digests:submit');
  await owner.suggest('timezone', 'kolkata');
  await owner.choose('timezone', 'Asia/Kolkata');
  const { errors } = await owner.submit({ above: '1000000000' });
  expect(Object.keys(errors ?? {})).toEqual(['above']);
  await owner.submit({ days: ['sat'], time: '07:30', kind: ['zones', 'apps'], above: '2500' });
  const saved = await owner.waitForModal('digests:done');
  expect(saved.reads).toMatch(/ 07:30, Asia\/\w+,.* 2,500 /);
  const [id = '', zone = ''] = [/(?<=Digest )\w{5}/u, /Asia\/\w+/].map((one) => one.exec(saved.reads)?.[0]);
  expect(readStable(saved, { id, zone })).toMatchSnapshot('saved');
  await owner.closeModal();
  expect(bot.slack.problems).toEqual([]);
});

test('an alert for all apps says the names that people gave to them', async () => {
  const [app] = bot.cdn.data.apps;
  if (!app) throw new Error('the double has no app');
  app.monthlyCost = 500;
  for (const zone of bot.cdn.data.zones) zone.MagicContainersAppId = app.id;
  await owner.slash(`name app ${app.id} till`);
  await owner.waitForMessage(({ reads }) => reads.includes(`${app.id} till`));
  await owner.slash('alert new cost');
  await owner.waitForModal('alerts:submit');
  await owner.submit({ hours: '' });
  const saved = await owner.waitForModal('alerts:done');
  await owner.closeModal();
  const id = /(?<=Alert )\w{5}/u.exec(saved.reads)?.[0] ?? '';
  await owner.slash(`alert check ${id}`);
  const incident = await owner.waitForMessage(/^:rotating_light:.*500/su);
  expect(readStable(incident, { id })).toMatchSnapshot();
});
