import { expect, test } from 'vitest';
import { findCondition } from '../../../../src/commands/reports/checks/list.ts';
import { reportsDue } from '../../../../src/commands/reports/store.ts';
import type { Alert, AlertSubject } from '../../../../src/views/reports/report.ts';
import { type AlertHarness, createAlertHarness } from '../../../support/alerts/harness.ts';
import { alice, bob } from '../../../support/digests/harness.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { readStable } from '../../../support/words.ts';

const { embedded } = await prepareEngines();

async function open(): Promise<AlertHarness> {
  return createAlertHarness(await embedded.emptyDatabase());
}

/** Every message of the channel, with the threads. */
function readAll(harness: AlertHarness): string[] {
  return harness.slack
    .as(alice.userId, 'C0OPS0000')
    .messages()
    .map(({ reads, threadTs }) => `${threadTs === undefined ? '' : '> '}${readStable(reads)}`)
    .map((text) => text.replaceAll(/(?<=[Aa]lert )[a-z\d]{5}\b/gu, '<id>'));
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
});

test('clean checks before an incident is over are told as such, with what is left until then', async () => {
  await using harness = await open();
  await harness.createAlert();
  harness.setEnabled(0, false);
  await harness.look();
  harness.setEnabled(0, true);
  await harness.look();
  expect(readAll(harness)).toMatchSnapshot();
});

test('a zone that flaps is told once', async () => {
  await using harness = await open();
  await harness.createAlert();
  for (let nth = 0; nth < 10; nth += 1) {
    harness.setEnabled(0, nth % 2 === 1);
    await harness.look();
  }
  expect(readAll(harness)).toHaveLength(1);
});

test('who acknowledges is named in the message; a second one hears who is on it', async () => {
  await using harness = await open();
  const alert = await harness.createAlert();
  harness.setEnabled(0, false);
  await harness.look();
  const [incident] = await harness.incidents();
  if (!incident) throw new Error('no incident');
  expect(await harness.reports.acknowledge(incident, alert, bob)).toMatchObject({
    acknowledged: { by: bob.userId },
  });
  expect(await harness.reports.acknowledge(incident, alert, alice)).toBeUndefined();
  await harness.runJobsFor(5);
  expect(readAll(harness)).toMatchSnapshot();
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
});

test('an incident that ends while its alert is snoozed is never told', async () => {
  await using harness = await open();
  const alert = await harness.createAlert();
  await harness.reports.snooze(alert, new Date(harness.now().getTime() + 3 * 3_600_000), bob);
  harness.setEnabled(0, false);
  await harness.look(3);
  harness.setEnabled(0, true);
  await harness.look(40);
  expect(readAll(harness)).toEqual([]);
  expect((await harness.incidents()).map(({ message }) => message)).toEqual([undefined]);
});

test('a CDN that does not answer is told once, and silence in between is not health', async () => {
  await using harness = await open();
  const alert = await harness.createAlert();
  harness.setEnabled(0, false);
  await harness.look();
  harness.cdn.faults.add({ match: { method: 'GET' }, status: 503, times: Number.POSITIVE_INFINITY });
  await harness.look(4);
  const [incident, blind] = readAll(harness);
  expect([incident, blind]).toMatchSnapshot('blind');
  expect(readAll(harness)).toHaveLength(2);
  expect((await harness.find(alert)).paused).toBeUndefined();
  harness.cdn.faults.clear();
  await harness.look(2);
  expect(readAll(harness)).toMatchSnapshot('looks again');
});

test('an alert whose key is gone says so once and is paused', async () => {
  await using harness = await open();
  const alert = await harness.createAlert();
  await harness.look();
  await harness.keyStore.forget(alice);
  await harness.look(3);
  expect(await harness.find(alert)).toMatchObject({ paused: { reason: 'key-missing' } });
  expect(readAll(harness)).toMatchSnapshot();
});

test('a sign of life comes once a day, at nine', async () => {
  await using harness = await open();
  await harness.createAlert({ lifeSign: true, every: 60 });
  await harness.runJobsFor(50 * 3600, 600);
  expect(readAll(harness)).toMatchSnapshot();
});

test('outside of its hours an alert does not look', async () => {
  await using harness = await open();
  // The harness begins on a Monday at 08:00.
  const alert = await harness.createAlert({
    hours: { weekdays: [1, 2, 3, 4, 5], from: '08:00', until: '08:15' },
  });
  await harness.look(6);
  expect(harness.countChecks()).toBe(2);
  expect(await harness.find(alert)).toMatchObject({ nextDue: new Date('2026-11-24T08:00:00Z') });
});

test('a look that is late, because nothing ran, is left out where its hours are over', async () => {
  await using harness = await open();
  const alert = await harness.createAlert({
    hours: { weekdays: [1, 2, 3, 4, 5], from: '08:00', until: '08:15' },
  });
  harness.setEnabled(0, false);
  harness.advance(3 * 3_600_000);
  await harness.runJobs();
  expect(harness.countChecks()).toBe(0);
  expect(await harness.find(alert)).toMatchObject({ nextDue: new Date('2026-11-24T08:00:00Z') });
  // Asked for, it looks at any hour.
  await harness.reports.checkNow(await harness.find(alert));
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

test('alerts of one account that are due together read it once', async () => {
  await using harness = await open();
  for (let nth = 0; nth < 5; nth += 1) await harness.createAlert();
  await harness.look();
  expect(harness.cdn.requests.filter(({ path }) => path.startsWith('/pullzone'))).toHaveLength(1);
});

test('a deleted alert leaves its incident, which nobody saw end, and looks no more', async () => {
  await using harness = await open();
  const alert = await harness.createAlert();
  harness.setEnabled(0, false);
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

test('an incident of a paused alert says that nobody looks', async () => {
  await using harness = await open();
  const alert = await harness.createAlert();
  harness.setEnabled(0, false);
  await harness.look();
  await harness.reports.pause(await harness.find(alert), alice);
  await harness.look();
  const [shown = ''] = readAll(harness);
  expect(shown).toContain(' paused');
  const [message] = harness.slack.as(alice.userId, 'C0OPS0000').messages();
  const menu = JSON.stringify(message?.blocks);
  expect([menu.includes('alerts:pause '), menu.includes('alerts:resume ')]).toEqual([false, true]);
  await harness.reports.resume(await harness.find(alert), alice);
  await harness.look();
  expect(readAll(harness)).toEqual([expect.not.stringContaining('paused')]);
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
