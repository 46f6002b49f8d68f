import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { appIds } from '../../../../simulator/cdn/apps.ts';
import { createRandom } from '../../../../simulator/cdn/dice.ts';
import type { Alert, Incident } from '../../../../src/views/reports/report.ts';
import type { TestSubject } from '../../../support/alerts/harness.ts';
import { createAlertHarness } from '../../../support/alerts/harness.ts';
import { createErrorSeries, isIn, span } from '../../../support/alerts/series.ts';
import { alice } from '../../../support/digests/harness.ts';
import { prepareEngines } from '../../../support/engines.ts';

const { embedded } = await prepareEngines();

const minute = 60_000;
const hour = 60 * minute;
const [begin, end] = [Date.UTC(2027, 2, 22), Date.UTC(2027, 3, 5)];
/** Between two looks of the alerts that see most. */
const every = 30;
const window = 30;

// Everything that is wrong in this fortnight. It has a change of clocks in Vienna (28 March), and ends a month.
const errors = {
  burst: span('2027-03-24 10:02', '2027-03-24 11:10'),
  overMidnight: span('2027-03-26 23:40', '2027-03-27 00:35'),
  late: span('2027-03-30 14:00', '2027-03-30 14:30'),
  overTheGap: span('2027-04-03 12:30', '2027-04-03 17:00'),
};
const gaps = [span('2027-04-02 01:00', '2027-04-02 04:00'), span('2027-04-03 13:05', '2027-04-03 16:05')];
/** Over before anybody looks again. */
const unseen = span('2027-04-02 01:30', '2027-04-02 02:30');
const disabled = {
  first: span('2027-03-23 14:00', '2027-03-23 15:30'),
  flapping: span('2027-03-25 08:00', '2027-03-25 10:00'),
  together: span('2027-04-03 09:00', '2027-04-03 11:00'),
};
const suspended = [
  span('2027-03-31 23:50', '2027-04-01 00:40'),
  span('2027-04-03 10:00', '2027-04-03 12:00'),
];
const night = span('2027-03-27 20:00', '2027-03-28 07:30');
const failing = span('2027-03-24 18:00', '2027-03-24 19:00');
const settingChanges = [Date.UTC(2027, 2, 26, 9, 7), Date.UTC(2027, 3, 2, 2, 10)];
const newCodes = [Date.UTC(2027, 2, 29, 15, 1), Date.UTC(2027, 3, 4, 0, 5)];

test('a fortnight: each incident is opened once and closed once, none is invented, and totals agree', async () => {
  const database = await embedded.emptyDatabase();
  // Nobody cuts the power here.
  await sql`set synchronous_commit = off`.execute(database.db);
  await using harness = await createAlertHarness(database);
  const { cdn } = harness;
  harness.advance(begin - 2 * hour - harness.now().getTime());
  const [shop, api, video, docs] = cdn.data.zones;
  const app = cdn.data.apps.find(({ id }) => id === appIds.api);
  if (!shop || !api || !video || !docs || !app) throw new Error('the double has other zones or apps');

  const series = createErrorSeries(cdn, shop.Id);
  fillErrors(series);
  // The day before has many: they are not of now.
  series.add(span('2027-03-21 18:00', '2027-03-21 21:00'), 2000);
  const changeWorld = (now: number): void => {
    series.showUntil(now);
    const isFlapping = isIn(disabled.flapping, now) && Math.floor(now / (every * minute)) % 2 === 0;
    api.Enabled = !isIn(disabled.first, now) && !isIn(disabled.together, now) && !isFlapping;
    video.Suspended = suspended.some((one) => isIn(one, now));
    docs.Enabled = !isIn(night, now);
    app.status = isIn(failing, now) || isBlip(now) ? 'failing' : 'active';
    shop.CacheControlMaxAgeOverride = 60 + settingChanges.filter((at) => at <= now).length;
  };

  changeWorld(harness.now().getTime());
  const alert = (subject: TestSubject) => harness.createAlert({ every, ...subject });
  const alerts = {
    errors: await alert({ condition: 'errors', targets: of(shop), threshold: 40, window }),
    rise: await alert({ condition: 'errors-rise', targets: of(shop), threshold: 700, window }),
    codes: await alert({ condition: 'errors-new-code', targets: of(shop), every: 60 }),
    state: await alert({ targets: [...of(api), ...of(video)] }),
    office: await alert({
      targets: of(docs),
      timeZone: 'Europe/Vienna',
      hours: { weekdays: [1, 2, 3, 4, 5, 6, 7], from: '08:00', until: '18:00' },
    }),
    settings: await alert({ condition: 'settings', targets: of(shop), every: 60 }),
    status: await alert({ condition: 'app-status', targets: [app.id], every: 30 }),
  };

  // Edits and replies follow a look in some seconds.
  for (let at = begin - 2 * hour; at < end; at += every * minute) {
    if (gaps.some((gap) => isIn(gap, at))) continue;
    harness.advance(at + 52_000 - harness.now().getTime());
    changeWorld(harness.now().getTime());
    await harness.runJobs();
    await harness.runJobsFor(16, 4);
  }

  const incidents = await harness.incidents();
  const found = (one: Alert): Incident[] => incidents.filter(({ alertId }) => alertId === one.id);
  const spans = (one: Alert): string[] =>
    found(one).map(
      ({ openedAt, closedAt }) => `${format(openedAt)} – ${closedAt ? format(closedAt) : 'open'}`,
    );
  // Opened by the first look that can see it, closed by the last of those that have to be calm.
  expect(
    Object.fromEntries(Object.entries(alerts).map(([name, one]) => [name, spans(one)])),
  ).toMatchSnapshot();
  expect(incidents.filter(({ kind }) => kind === 'unreadable')).toEqual([]);

  // What is told agrees with the series.
  for (const { openedAt, closedAt, figures } of found(alerts.errors)) {
    const from = openedAt.getTime() - window * minute;
    expect(figures.total).toBe(
      series.count(Math.floor(from / (5 * minute)) * 5 * minute, closedAt?.getTime() ?? 0),
    );
  }
  expect(found(alerts.codes).map(({ figures }) => figures.parts.length)).toEqual([1, 1]);
  expect(found(alerts.settings).map(({ figures }) => figures.parts.length)).toEqual([1, 1]);

  // People read one message an incident, and each says how it ended.
  const messages = harness.slack.as(alice.userId, 'C0OPS0000').messages();
  const top = messages.filter(({ threadTs }) => threadTs === undefined);
  expect(top).toHaveLength(incidents.length);
  expect(top.filter(({ reads }) => reads.includes('rotating_light'))).toEqual([]);
  expect(harness.slack.problems).toEqual([]);
}, 600_000);

/** What a zone has on any day, more by day than by night, and everything that is wrong. */
function fillErrors(series: ReturnType<typeof createErrorSeries>): void {
  const dice = createRandom(17);
  for (let at = begin - 24 * hour; at < end; at += 10 * minute) {
    const daily = 2 + 2 * Math.sin(((at % (24 * hour)) / (24 * hour)) * 2 * Math.PI);
    const code = dice.chance(0.5) ? 'dns_lookup' : 'http_timeout';
    series.add({ from: at, until: at + 10 * minute }, Math.floor(daily + dice.next()), { code });
  }
  for (const one of [errors.burst, errors.overMidnight, errors.overTheGap, unseen])
    series.add(one, Math.round((one.until - one.from) / 5_000));
  series.add(errors.late, 300, { lateMs: 11 * minute });
  for (const [nth, at] of newCodes.entries())
    for (const from of [at, at + 40 * minute, at + 5 * hour])
      series.add({ from, until: from + minute }, 2, { code: `new_code_${nth}` });
}

/** One look alone, at noon of each day: no incident for who waits for a second one. */
function isBlip(at: number): boolean {
  const inDay = at % (24 * hour);
  return inDay >= 12 * hour && inDay < 12 * hour + 10 * minute;
}

function format(at: Date): string {
  return at.toISOString().slice(5, 16).replace('T', ' ');
}

function of(zone: { readonly Id: number }): string[] {
  return [String(zone.Id)];
}
