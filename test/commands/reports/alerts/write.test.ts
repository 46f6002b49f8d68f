import { expect, test } from 'vitest';
import { jobs } from '../../../../src/app/jobs.ts';
import { writeObservation } from '../../../../src/commands/reports/alerts/write.ts';
import { findCondition, findDigestKind } from '../../../../src/commands/reports/checks/list.ts';
import { reportsDue } from '../../../../src/commands/reports/store.ts';
import { renderWhy } from '../../../../src/views/reports/incident.ts';
import type { Alert, AlertSubject } from '../../../../src/views/reports/report.ts';
import { type AlertHarness, createAlertHarness, type TestSubject } from '../../../support/alerts/harness.ts';
import { addErrors } from '../../../support/alerts/looks.ts';
import { alice, bob } from '../../../support/digests/harness.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { findMessageProblems } from '../../../support/slack-limits.ts';
import { readStable } from '../../../support/words.ts';

const { embedded } = await prepareEngines();
const channel = 'C0OPS0000';
const direct = 'DU0ALICE00';

async function open(): Promise<AlertHarness> {
  return createAlertHarness(await embedded.emptyDatabase());
}

/** Every message of the channel, with the threads. */
function readAll(harness: AlertHarness): string[] {
  return harness.slack
    .as(alice.userId, 'C0OPS0000')
    .messages()
    .map(({ reads, threadTs }) => `${threadTs === undefined ? '' : '> '}${readStable(reads)}`)
    .map((text) => text.replaceAll(/(?<=[Aa]lert |Digest )[a-z\d]{5}\b/gu, '<id>'));
}

test('an incident is one message that is kept up to date, with its changes in the thread', async () => {
  await using harness = await open();
  await harness.createAlert({ names: [bob.userId] });
  await harness.look(2);
  expect(readAll(harness)).toEqual([]);

  harness.setEnabled(0, false);
  await harness.look(3);
  expect(readAll(harness)).toHaveLength(1);

  harness.setEnabled(1, false);
  await harness.look(2);
  const [message, change] = readAll(harness);
  expect([message, change]).toMatchSnapshot('open');
  expect(readAll(harness)).toHaveLength(2);

  harness.setEnabled(0, true);
  harness.setEnabled(1, true);
  await harness.look(4);
  expect(readAll(harness)).toMatchSnapshot('closed');
  const [incident, ...others] = await harness.incidents();
  expect(others).toEqual([]);
  expect(incident?.closedAt).toBeInstanceOf(Date);
  const countPosts = () => harness.slack.calls.filter(({ method }) => method.startsWith('chat.')).length;
  const posts = countPosts();
  await harness.look(2);
  expect(countPosts()).toBe(posts);
  expect(harness.log.entries.map(({ message }) => message)).not.toContain('alert could not be posted');
});

test('an incident opens and closes after as many checks as its condition asks for', async () => {
  await using harness = await open();
  const [app] = harness.cdn.data.apps;
  await harness.createAlert({ condition: 'app-status', targets: [app?.id ?? ''] });
  const opened: number[] = [];
  for (const isFailing of [true, false, true, true, false, true, false, false]) {
    Object.assign(app ?? {}, { status: isFailing ? 'failing' : 'active' });
    await harness.look();
    opened.push((await harness.incidents()).filter(({ closedAt }) => closedAt === undefined).length);
  }
  expect(opened).toEqual([0, 0, 0, 1, 1, 1, 1, 0]);
});

test('what belongs to another workspace is not found there, and another owner begins without its memory', async () => {
  await using harness = await open();
  const alert = await fire(harness);
  await harness.look();
  const { reports } = harness;
  const [here, there] = await Promise.all(
    [alert.tenant, 'T0BETA000'].map(async (tenant) => [
      await reports.find(tenant, alert.id),
      ...(await reports.list(tenant)),
      ...(await reports.listRecentIncidents(tenant)),
    ]),
  );
  expect([here?.length, there]).toEqual([3, [undefined]]);
  await reports.takeOver(await harness.find(alert), bob);
  expect(await harness.find(alert)).toMatchObject({ state: { recent: [] }, checkedAt: undefined });
});

test.each(['zone-state', 'errors'] as const)(
  'a bot that stops while it checks %s stores nothing',
  async (condition) => {
    await using harness = await open();
    const alert = await harness.createAlert({ condition });
    const held = Promise.withResolvers<void>();
    const zone = harness.cdn.data.zones.at(-1)?.Id;
    // Of the errors all zones but the last are read.
    const path = condition === 'errors' ? new RegExp(`/${zone}/`, 'u') : /./u;
    harness.cdn.faults.add({ match: { path }, until: held.promise });
    harness.advance(6 * 60_000);
    const stopping = new AbortController();
    const { tenant, owner } = alert;
    const job = jobs.find(({ name }) => name === reportsDue.name);
    const checking = job?.run(
      { tenant, owner: owner.userId },
      { ...harness.context, signal: stopping.signal },
    );
    await expect.poll(() => harness.cdn.requests.some((request) => path.test(request.path))).toBe(true);
    stopping.abort();
    await expect(checking).rejects.toBeInstanceOf(Error);
    held.resolve();
    expect((await harness.find(alert)).state).toEqual({ recent: [] });
  },
);

test('an alert whose key the CDN refuses is paused by its next check', async () => {
  await using harness = await open();
  const alert = await harness.createAlert();
  harness.cdn.data.accessKeys.clear();
  await harness.look(2);
  expect((await harness.find(alert)).paused?.reason).toBe('key-refused');
  expect(harness.countChecks()).toBe(1);
});

test('one of two parts recovers: the thread says so, and the incident stays', async () => {
  await using harness = await open();
  await harness.createAlert();
  for (const zone of [0, 1]) harness.setEnabled(zone, false);
  await harness.look(3);
  const told = readAll(harness).length;
  harness.setEnabled(0, true);
  await harness.look(4);
  expect(readAll(harness)).toHaveLength(told + 1);
  expect((await harness.incidents()).map(({ closedAt }) => closedAt)).toEqual([undefined]);
});

test('a part that was renamed stands once, and one whose zone is gone did not recover', async () => {
  await using harness = await open();
  await harness.createAlert();
  const { zones } = harness.cdn.data;
  for (const zone of [0, 1]) harness.setEnabled(zone, false);
  await harness.look(2);
  Object.assign(zones[1] as object, { Name: 'renamed' });
  await harness.look();
  zones.splice(1, 1);
  harness.setEnabled(0, true);
  await harness.look(3);
  const [incident] = await harness.incidents();
  expect(incident?.figures.everything.toSorted()).toEqual(['renamed (gone)', 'shop']);
});

test('who acknowledges is named in the message; a second one hears who is on it', async () => {
  await using harness = await open();
  const alert = await fire(harness);
  await harness.createAlert({}, 'C0DEPLOY0');
  await harness.look();
  const [incident] = (await harness.incidents()).filter(({ alertId }) => alertId === alert.id);
  if (!incident) throw new Error('no incident');
  expect(await harness.reports.acknowledge(incident, alert, bob)).toMatchObject({
    acknowledged: { by: bob.userId },
  });
  expect(await harness.reports.acknowledge(incident, alert, alice)).toBeUndefined();
  expect(await harness.reports.acknowledge(incident, alert, alice, true)).toBeUndefined();
  const taken = (await harness.incidents()).filter(({ acknowledged }) => acknowledged);
  expect(taken.map(({ id }) => id)).toEqual([incident.id]);
  await harness.reports.snooze(alert, harness.now(), bob);
  expect((await harness.audit.recent(alert.tenant, 2)).map(({ event }) => event)).toEqual([
    'alert-snoozed',
    'alert-acknowledged',
  ]);
  await harness.runJobsFor(5);
  expect(readAll(harness)).toMatchSnapshot();
  harness.setEnabled(0, true);
  await harness.look(4);
  expect(await harness.reports.acknowledge(incident, alert, bob, true)).toBeUndefined();
});

test('a snoozed alert looks on, and tells afterwards what still is wrong', async () => {
  await using harness = await open();
  const alert = await harness.createAlert();
  await harness.reports.snooze(alert, new Date(harness.now().getTime() + 22 * 60_000), bob);
  harness.setEnabled(0, false);
  await harness.look(3);
  expect(readAll(harness)).toEqual([]);
  expect(harness.countChecks()).toBe(3);
  await harness.look(2);
  expect(readAll(harness)).toHaveLength(1);
  await harness.reports.snooze(alert, new Date(harness.now().getTime() + 22 * 60_000), bob);
  harness.setEnabled(1, false);
  await harness.look(2);
  expect(readAll(harness)).toHaveLength(1);
});

test('of checks that began together the first one counts', async () => {
  await using harness = await open();
  const seen = await harness.find(await harness.createAlert({ condition: 'app-status' }));
  const other = await harness.createAlert({}, 'C0DEPLOY0');
  const parts = [{ id: 'a', name: 'a', text: 'failing' }];
  for (const minutes of [5, 6]) {
    const at = new Date(harness.now().getTime() + minutes * 60_000);
    await writeObservation(
      seen,
      { at, observation: { parts, value: undefined, evidence: [] } },
      harness.context,
    );
  }
  expect(await harness.incidents()).toEqual([]);
  expect(await harness.find(other)).toEqual(other);
  await harness.reports.checkNow(seen);
  expect(await harness.find(other)).toEqual(other);
});

// The check that ends it comes after 25 minutes.
test.each([22, 180])(
  'an incident that began in a snooze of %i minutes, and is over, is never told',
  async (minutes) => {
    await using harness = await open();
    const alert = await harness.createAlert();
    await harness.reports.snooze(alert, new Date(harness.now().getTime() + minutes * 60_000), bob);
    harness.setEnabled(0, false);
    await harness.look(3);
    harness.setEnabled(0, true);
    await harness.look(40);
    expect(readAll(harness)).toEqual([]);
    expect((await harness.incidents()).map(({ message }) => message)).toEqual([undefined]);
  },
);

test('a CDN that does not answer is told once, and silence in between is not health', async () => {
  await using harness = await open();
  const alert = await fire(harness);
  await harness.look();
  harness.cdn.faults.add({ match: { method: 'GET' }, status: 503, times: Number.POSITIVE_INFINITY });
  await harness.look();
  expect(readAll(harness)).toHaveLength(1);
  await harness.look(2);
  const countEdits = () => harness.slack.calls.filter(({ method }) => method === 'chat.update').length;
  const edits = countEdits();
  await harness.look();
  // What would say the same is not edited.
  expect(countEdits()).toBe(edits);
  const [incident, blind] = readAll(harness);
  expect([incident, blind]).toMatchSnapshot('blind');
  expect(readAll(harness)).toHaveLength(2);
  expect((await harness.find(alert)).paused).toBeUndefined();
  harness.cdn.faults.clear();
  await harness.look(2);
  expect(readAll(harness)).toMatchSnapshot('looks again');
});

test('where the next check is an hour away, one without an answer is told', async () => {
  await using harness = await open();
  await harness.createAlert({ every: 60 });
  harness.cdn.faults.add({ match: { method: 'GET' }, status: 503, times: Number.POSITIVE_INFINITY });
  await harness.runJobsFor(3600, 30);
  expect(readAll(harness)).toHaveLength(1);
});

test('an alert whose key is gone says so once and is paused', async () => {
  await using harness = await open();
  const alert = await fire(harness);
  await harness.look();
  await harness.keyStore.forget(alice);
  await harness.look(3);
  expect(await harness.find(alert)).toMatchObject({ paused: { reason: 'key-missing' } });
  expect(readAll(harness)).toMatchSnapshot();
});

test('a sign of life comes once a day, at nine', async () => {
  await using harness = await open();
  await harness.createAlert({ lifeSign: true, every: 60 });
  const snoozed = await harness.createAlert({ lifeSign: true, every: 60 });
  await harness.reports.snooze(snoozed, new Date(harness.now().getTime() + 72 * 3_600_000), bob);
  await harness.runJobsFor(20 * 3600, 600);
  for (const isEnabled of [false, true]) {
    harness.setEnabled(0, isEnabled);
    await harness.runJobsFor(2 * 3600, 600);
  }
  await harness.runJobsFor(26 * 3600, 600);
  expect(readAll(harness)).toMatchSnapshot();
});

test('a sign of life that its channel takes no more pauses the alert, and its owner reads both', async () => {
  await using harness = await open();
  const alert = await harness.createAlert({ lifeSign: true, every: 60 });
  await harness.runJobsFor(3600, 600);
  harness.slack.script.fail('chat.postMessage', 'not_in_channel', 9, 200, `"channel":"${channel}"`);
  await harness.runJobsFor(26 * 3600, 600);
  expect((await harness.find(alert)).paused?.reason).toBe('bot-removed');
  expect(harness.readChannel(direct)).toHaveLength(2);
});

test.each([
  ['whose message was deleted', 'chat.update', 'message_not_found', ''],
  ['whose thread takes no reply', 'chat.postMessage', 'thread_not_found', '"thread_ts"'],
])('an open incident %s is posted again when it changes', async (_, method, code, text) => {
  await using harness = await open();
  await fire(harness);
  await harness.look(2);
  harness.slack.script.fail(method, code, 2, 200, text);
  harness.setEnabled(1, false);
  await harness.look(2);
  expect(count(harness, channel)).toBe(2);
});

test('an incident whose message was deleted comes back once, when something changes', async () => {
  await using harness = await open();
  const { slack } = harness;
  await fire(harness);
  await harness.look(2);
  const countPosted = () =>
    slack.calls.filter(({ method, ok }) => method === 'chat.postMessage' && ok).length;
  const remove = () => {
    slack.script.fail('chat.update', 'message_not_found', 99);
    slack.script.fail('chat.postMessage', 'thread_not_found', 99, 200, '"thread_ts"');
  };
  remove();
  await harness.look(4);
  const before = countPosted();
  harness.setEnabled(1, false);
  await harness.look(1);
  slack.script.clear();
  await harness.look(2);
  expect([before, countPosted()]).toEqual([1, 2]);
  // It is kept up to date, and deleted again.
  harness.setEnabled(2, false);
  await harness.look(2);
  expect(countPosted()).toBe(3);
  remove();
  for (const zone of [0, 1, 2]) {
    harness.setEnabled(zone, true);
    await harness.look(4);
  }
  expect(countPosted()).toBe(3);
  expect(await harness.incidents()).toMatchObject([{ closedAt: expect.any(Date) }]);
});

test('changes that were kept back for a day put their incident into the channel once', async () => {
  await using harness = await open();
  await fire(harness);
  await harness.look(2);
  harness.slack.script.fail('chat.postMessage', 'access_denied', 50, 200, '"thread_ts"');
  for (const isEnabled of [false, true]) {
    harness.setEnabled(1, isEnabled);
    await harness.look(3);
  }
  const changes = harness.db.updateTable('outbox').where('kind', '=', 'alert-change');
  const { numUpdatedRows } = await changes
    .set({ expires_at: harness.now(), next_at: harness.now() })
    .executeTakeFirstOrThrow();
  expect(numUpdatedRows).toBe(2n);
  await harness.runJobsFor(2 * 3600, 600);
  expect(count(harness, channel)).toBe(2);
});

test('outside of its hours an alert does not look, not even late; asked for, it does', async () => {
  await using harness = await open();
  // The harness begins on a Monday at 08:00 UTC.
  const hours = { weekdays: [1, 2, 3, 4, 5], from: '09:00', until: '09:15' };
  const late = await harness.createAlert({ hours, timeZone: 'Europe/Vienna' });
  harness.advance(3 * 3_600_000);
  await harness.runJobs();
  expect(harness.countChecks()).toBe(0);
  expect(await harness.find(late)).toMatchObject({ nextDue: new Date('2026-11-24T08:00:00Z') });
  await harness.reports.checkNow(await harness.find(late));
  await harness.look();
  expect(harness.countChecks()).toBe(1);
});

test('a process that dies before it plans the next look: the job runs again, and plans it', async () => {
  await using harness = await open();
  const alert = await harness.createAlert();
  await harness.look();
  harness.queue.clear();
  const { tenant, owner } = alert;
  await harness.queue.enqueue(reportsDue, { tenant, owner: owner.userId });
  await harness.look(2);
  expect(harness.countChecks()).toBe(3);
});

test('two processes at the same looks: each change is told once', async () => {
  await using harness = await open();
  for (let nth = 0; nth < 4; nth += 1) await harness.createAlert();
  harness.setEnabled(0, false);
  harness.advance(6 * 60_000);
  for (let second = 0; second < 30; second += 1) {
    await Promise.all([harness.runJobs(), harness.runJobs()]);
    harness.advance(1000);
  }
  expect(readAll(harness)).toHaveLength(4);
  expect(await harness.incidents()).toHaveLength(4);
});

test('a deleted alert leaves its incident, which nobody saw end, and looks no more', async () => {
  await using harness = await open();
  const alert = await fire(harness);
  await harness.look();
  await harness.reports.delete(await harness.find(alert), alice);
  await harness.look(2);
  const [incident] = await harness.incidents();
  expect(incident?.closedAt).toBeInstanceOf(Date);
  expect(readAll(harness)).toMatchSnapshot();
  expect(harness.countChecks()).toBe(1);
});

test('an alert that looks for something else begins anew: nothing of before counts as over or as changed', async () => {
  await using harness = await open();
  const alert = await harness.createAlert({ condition: 'errors-new-code', every: 15 });
  await harness.look(3);
  await edit(harness, alert, { condition: findCondition('zone-state'), every: 5 });
  harness.setEnabled(0, false);
  await harness.look();
  await edit(harness, alert, { condition: findCondition('settings'), every: 15 });
  await harness.look(6);
  expect(readAll(harness)).toMatchSnapshot();
  expect((await harness.incidents()).filter(({ closedAt }) => closedAt === undefined)).toEqual([]);
});

test.each<[string, TestSubject, Partial<AlertSubject>]>([
  ['threshold', { condition: 'zone-limit', threshold: 90 }, { threshold: 97 }],
  ['time window', { condition: 'errors', threshold: 3, window: 60 }, { window: 10 }],
])('an incident ends, but is not resolved, when its alert gets another %s', async (_, subject, change) => {
  await using harness = await open();
  const { zones, originErrors } = harness.cdn.data;
  originErrors.count = 0;
  const id = zones[0]?.Id ?? 0;
  Object.assign(zones[0] ?? {}, { MonthlyBandwidthLimit: 100e9, MonthlyBandwidthUsed: 95e9 });
  const at = harness.now().getTime() - 20 * 60_000;
  addErrors(harness.cdn.data, id, { many: 10, at, code: 'dns_lookup' });
  const alert = await harness.createAlert({ ...subject, targets: [`${id}`] });
  await harness.look(2);
  expect(count(harness, channel)).toBe(1);
  await edit(harness, alert, change);
  await harness.look(3);
  expect([count(harness, channel), count(harness, channel, ':double_vertical_bar:')]).toEqual([0, 1]);
  expect(readAll(harness).join('\n')).not.toContain(':white_check_mark:');
});

const blind = (harness: AlertHarness): void =>
  harness.cdn.faults.add({ match: { method: 'GET' }, status: 503, times: Number.POSITIVE_INFINITY });

test.each<[string, TestSubject, (harness: AlertHarness) => void]>([
  ['that fires', {}, (harness) => harness.setEnabled(0, false)],
  ['that cannot check', {}, blind],
  [
    'of an event',
    { condition: 'errors-new-code' },
    ({ cdn, now }) =>
      addErrors(cdn.data, cdn.data.zones[0]?.Id ?? 0, { many: 3, at: now().getTime(), code: 'dns_lookup' }),
  ],
])('the message of a paused alert %s promises no check and offers none', async (_, subject, breaks) => {
  await using harness = await open();
  harness.cdn.data.originErrors.count = 0;
  const alert = await harness.createAlert(subject);
  await harness.look();
  breaks(harness);
  await harness.look(2);
  await harness.reports.pause(await harness.find(alert), alice);
  await harness.look();
  expect(readAll(harness)).toMatchSnapshot();
  const [message] = harness.slack.as(alice.userId, 'C0OPS0000').messages();
  const menu = JSON.stringify(message?.blocks);
  const offered = ['pause', 'check', 'resume'].map((verb) => menu.includes(`alerts:${verb} `));
  expect(offered).toEqual([false, false, true]);
  harness.cdn.faults.clear();
  await harness.reports.resume(await harness.find(alert), alice);
  await harness.look();
  expect(readAll(harness)).toEqual(readAll(harness).filter((text) => !text.includes('paused')));
});

test('alerts and digests say the names that people gave to apps and shield zones', async () => {
  await using harness = await open();
  const { apps, shieldZones } = harness.cdn.data;
  const [app, shield] = [apps[0]?.id ?? '', String(shieldZones[0]?.id)];
  Object.assign(shieldZones[0] ?? {}, {
    overview: { '23-11-2026': { loggedRequests: 9, blockedRequests: 9, filesScanned: 9 } },
  });
  const called = { [app]: 'checkout-app', [shield]: 'front door' };
  Object.assign(apps[0] ?? {}, { status: 'failing' });
  await harness.createAlert({ condition: 'app-status', targets: [app], called });
  await harness.createAlert({ condition: 'scanning', targets: [shield], called, threshold: 0, every: 15 });
  await harness.look(4);
  const kinds = ['scanning', 'apps'].map(findDigestKind);
  const targets = { zones: [], shieldZones: [shield], apps: [app] };
  await harness.createDaily(alice, { subject: { kinds, targets, called, only: 'always', timeZone: 'UTC' } });
  await harness.runJobsFor(3600, 60);
  const said = readAll(harness).join('\n');
  expect(said).toMatchSnapshot();
  expect([app, shield].filter((id) => new RegExp(`\\b${id}\\b`, 'u').test(said))).toEqual([]);
});

async function edit(harness: AlertHarness, alert: Alert, subject: Partial<AlertSubject>): Promise<void> {
  const current = await harness.find(alert);
  const order = { channel: current.channel, subject: { ...current.subject, ...subject } };
  await harness.reports.change(current, order, alice);
}

test('a look that its former owner’s key was refused in does not pause an alert that was taken over', async () => {
  await using harness = await open();
  const alert = await harness.createAlert();
  const held = Promise.withResolvers<void>();
  harness.cdn.faults.add({ match: { method: 'GET' }, status: 401, until: held.promise });
  harness.advance(6 * 60_000);
  const looking = harness.runJobs();
  await expect.poll(() => harness.cdn.requests.length).toBe(1);
  await harness.reports.takeOver(alert, bob);
  held.resolve();
  await looking;
  expect(await harness.find(alert)).toMatchObject({ paused: undefined, owner: bob });
});

test('an alert that was moved before its message was refused speaks in the other channel, and is not paused', async () => {
  await using harness = await open();
  const alert = await harness.createAlert();
  harness.slack.script.rateLimit('chat.postMessage', 10 * 60);
  harness.setEnabled(0, false);
  await harness.look();
  Object.assign(harness.slack.world.channels.get(channel) ?? {}, { archived: true });
  const found = await harness.find(alert);
  await harness.reports.change(found, { ...found, channel: 'C0DEPLOY0' }, alice);
  await harness.look(4);
  expect((await harness.find(alert)).paused).toBeUndefined();
  expect(harness.readChannel('C0DEPLOY0')).toHaveLength(1);
});

/** How often an incident stands in a conversation, not in its threads. */
function count({ slack }: AlertHarness, place: string, sign = ':rotating_light:'): number {
  const messages = slack.as(alice.userId, place).messages();
  return messages.filter(({ reads, threadTs }) => threadTs === undefined && reads.startsWith(sign)).length;
}

async function fire(harness: AlertHarness, subject = {}, place = channel): Promise<Alert> {
  const alert = await harness.createAlert(subject, place);
  harness.setEnabled(0, false);
  return alert;
}

test.each<{
  name: string;
  place?: string;
  breaks: (harness: AlertHarness) => unknown;
  /** Posts in the channel and to the owner. */
  posts: [number, number];
  paused?: string;
}>([
  {
    name: 'a 503 in the owner’s conversation, where the bot may not look: it is posted again',
    place: alice.userId,
    breaks: ({ slack }) => slack.script.fail('chat.postMessage', 'oops', 1, 503),
    posts: [0, 1],
  },
  {
    name: 'an answer that is cut in the owner’s conversation: it is posted again',
    place: alice.userId,
    breaks: ({ slack }) => slack.script.drop('chat.postMessage'),
    posts: [0, 2],
  },
  {
    name: 'a channel that never answers is given up after three posts, and the owner reads it',
    breaks: ({ slack }) => slack.script.fail('chat.postMessage', 'oops', 3, 503),
    posts: [0, 1],
  },
  {
    name: 'a message that its channel refuses as it is: its words are tried',
    breaks: ({ slack }) => slack.script.fail('chat.postMessage', 'invalid_blocks'),
    posts: [1, 0],
  },
  {
    name: 'a message whose words are refused as well: the owner gets it',
    breaks: ({ slack }) => slack.script.fail('chat.postMessage', 'invalid_blocks', 2),
    posts: [0, 1],
  },
  {
    name: 'a channel that takes no message pauses its alert, and the owner reads the incident',
    breaks: ({ slack }) => Object.assign(slack.world.channels.get(channel) ?? {}, { archived: true }),
    posts: [0, 1],
    paused: 'channel-archived',
  },
  {
    name: 'a channel that other organizations come to read pauses its alert, and nobody reads it there',
    breaks: ({ slack }) => Object.assign(slack.world.channels.get(channel) ?? {}, { shared: true }),
    posts: [0, 0],
    paused: 'channel-shared',
  },
])('$name', async ({ place, breaks, posts, paused }) => {
  await using harness = await open();
  const alert = await fire(harness, {}, place);
  breaks(harness);
  await harness.look(3);
  expect([count(harness, channel), count(harness, direct)]).toEqual(posts);
  expect((await harness.find(alert)).paused?.reason).toBe(paused);
  expect(count(harness, direct, ':double_vertical_bar:')).toBe(paused ? 1 : 0);
});

test('a message that every place refused is posted by the next check, and the log says that it was not read', async () => {
  await using harness = await open();
  // An hourly check: what nobody has read does not wait for it.
  await fire(harness, { every: 60 });
  harness.slack.script.fail('chat.postMessage', 'invalid_blocks', 4);
  await harness.runJobsFor(3600 + 60, 20);
  expect([count(harness, channel), count(harness, direct)]).toEqual([0, 0]);
  expect(harness.log.entries.map(({ message }) => message)).toContain('alert could not be posted');
  await harness.look(2);
  expect([count(harness, channel), count(harness, direct)]).toEqual([1, 0]);
  harness.setEnabled(0, true);
  await harness.runJobsFor(3 * 3600, 60);
  expect(count(harness, channel, ':white_check_mark: Resolved')).toBe(1);
  expect(await harness.incidents()).toHaveLength(1);
});

test.each([
  ['takes no message for longer than a minute', 'rate_limited', 8, 2 * 60],
  ['refuses it for what its admins can lift', 'ekm_access_denied', 1, 20],
])('a channel that %s: the owner reads the alert meanwhile', async (_, code, times, seconds) => {
  await using harness = await open();
  const alert = await fire(harness);
  harness.slack.script.fail('chat.postMessage', code, times, 200, `"channel":"${channel}"`);
  await harness.runJobsFor(5 * 60 + seconds, 5);
  expect([count(harness, channel), count(harness, direct)]).toEqual([0, 1]);
  expect((await harness.find(alert)).paused).toBeUndefined();
});

test('an alert of which Slack never says whether it arrived is posted once an hour until somebody reads it', async () => {
  await using harness = await open();
  await fire(harness);
  harness.slack.script.fail('chat.postMessage', 'internal_error', 60);
  await harness.runJobsFor(90 * 60, 15);
  const tried = harness.channelPosts().length;
  await harness.runJobsFor(10 * 60, 15);
  expect(harness.channelPosts()).toHaveLength(tried);
  harness.slack.script.clear();
  await harness.runJobsFor(3600, 15);
  expect(count(harness, channel)).toBe(1);
});

test.each<['dead' | 'unknown', number, number]>([
  ['dead', 0, 1],
  ['unknown', 0, 1],
  // Nobody needs it any more.
  ['dead', 25, 0],
])(
  'a message that is %s, and was resolved %i hours ago before anybody read it, is posted %i times',
  async (state, hours, posts) => {
    await using harness = await open();
    await fire(harness);
    const [, other] = harness.cdn.data.zones;
    await harness.createAlert({ targets: [String(other?.Id)] }, 'C0DEPLOY0');
    harness.slack.script.fail('chat.postMessage', 'rate_limited', 13);
    await harness.look(2);
    harness.setEnabled(0, true);
    await harness.look(3);
    expect((await harness.incidents()).map(({ closedAt }) => closedAt instanceof Date)).toEqual([true]);
    await harness.db.updateTable('outbox').set({ state }).execute();
    const closed = new Date(harness.now().getTime() - hours * 3_600_000);
    if (hours > 0) await harness.db.updateTable('report_incidents').set({ closed_at: closed }).execute();
    await harness.look(3);
    expect(count(harness, channel, ':white_check_mark: Resolved')).toBe(posts);
    expect(count(harness, 'C0DEPLOY0', '')).toBe(0);
  },
);

async function readWhy(harness: AlertHarness, { id }: Alert): Promise<string> {
  const alert = await harness.find({ id } as Alert);
  const message = renderWhy(alert, await harness.reports.listIncidents(id), harness.now());
  expect(findMessageProblems(message)).toEqual([]);
  return readStable(message, { id });
}

test('why says what is compared before the first look, while it is wrong, when it calms down and afterwards', async () => {
  await using harness = await open();
  const { data } = harness.cdn;
  data.originErrors.count = 0;
  const [zone] = data.zones;
  const targets = [String(zone?.Id)];
  const alert = await harness.createAlert({ condition: 'errors', targets, threshold: 50, window: 10 });
  const said = [await readWhy(harness, alert)];
  await harness.look();
  addErrors(data, zone?.Id ?? 0, { many: 60, at: harness.now().getTime(), code: 'dns_lookup' });
  for (const looks of [1, 2, 3]) {
    await harness.look(looks);
    said.push(await readWhy(harness, alert));
  }
  expect(said).toMatchSnapshot('why');
  expect(readAll(harness)).toMatchSnapshot('incident');
});

test('changes of settings are one message that says before and after, and a change each in its thread', async () => {
  await using harness = await open();
  const { data } = harness.cdn;
  const [zone] = data.zones;
  const targets = [String(zone?.Id)];
  const alert = await harness.createAlert({ condition: 'settings', targets, every: 15 });
  await harness.look(3);
  expect(readAll(harness)).toEqual([]);
  const tls = zone?.EnableTLS1 ?? false;
  Object.assign(zone ?? {}, { EnableTLS1: !tls, ZoneSecurityKey: 'another-secret-key' });
  await harness.look(3);
  Object.assign(zone ?? {}, { EnableTLS1: tls });
  await harness.look(3);
  const told = [...readAll(harness), await readWhy(harness, alert)];
  await harness.look(9);
  expect([told, readAll(harness), await readWhy(harness, alert)]).toMatchSnapshot();
  expect((await harness.incidents()).map(({ closedAt }) => closedAt !== undefined)).toEqual([true]);
});
