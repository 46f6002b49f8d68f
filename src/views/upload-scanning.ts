import type { ModalView } from '@slack/types';
import type { ScanDay, UploadScanningMetrics } from '../api/upload-scanning.ts';
import { dayMs, shiftDay, startOfDay, toUtcDay } from '../lib/time.ts';
import { renderAnswer } from './blocks/answer.ts';
import { jsonFile, type Message, type MessageBlock } from './blocks/blocks.ts';
import { commandButton, replacingButton } from './blocks/buttons.ts';
import { renderChart } from './blocks/chart.ts';
import { formatCount, formatInteger, formatMoment, formatShortDay } from './blocks/format.ts';
import { modal, searchSelect } from './blocks/inputs.ts';
import { escapeMrkdwn, formatCode, join } from './blocks/text.ts';

export interface Scanning {
  readonly id: string;
  readonly name?: string | undefined;
  readonly metrics: UploadScanningMetrics;
  readonly asOf: Date;
}

export function renderScanning({ id, name, metrics, asOf }: Scanning): Message {
  const { unknownOverview, totalFilesScanned: scanned } = metrics;
  const reported = metrics.days.filter(({ day = '' }) => day <= toUtcDay(asOf));
  const ahead = metrics.days.length - reported.length;
  const days = listDays(reported);
  const totals = describeTotals(metrics, days);
  const answer = renderAnswer({
    text: `Shield zone ${escapeMrkdwn(name ?? id, 40)}: ${totals}`,
    lines: `${renderLabel(id, name)}: ${totals}`,
    picture: renderWeeks(days),
    actions: [],
    share: `scanning ${id}`,
    more: [
      replacingButton('Refresh', `scanning ${id}`),
      commandButton(name === undefined ? 'Give it a name' : 'Rename', `name shield ${id}`, 1),
      commandButton('Another shield zone', 'scanning'),
    ],
    notes: [
      scanned === undefined ? 'scanned files not reported' : `${formatCount(scanned, 'file')} scanned`,
      unknownOverview ? 'the days are in an unknown format: see the file' : describeReported(days),
      ahead > 0 && `${formatCount(ahead, 'day')} in the future not shown`,
      `as of ${formatMoment(asOf)}`,
    ],
  });
  return unknownOverview ? { ...answer, files: [jsonFile('upload-scanning', unknownOverview)] } : answer;
}

/** `age`: days before the newest one; by position where a key is not a day. */
type AgedDay = ScanDay & { readonly age: number };

/** Those of 28 days: the CDN may leave days out. */
function listDays(days: readonly ScanDay[]): readonly AgedDay[] {
  const newest = days.every(({ day }) => day !== undefined) ? days.at(-1)?.day : undefined;
  const ageOf = ({ day = '' }: ScanDay, nth: number): number =>
    newest === undefined ? days.length - 1 - nth : (startOfDay(newest) - startOfDay(day)) / dayMs;
  return days.map((one, nth) => ({ ...one, age: ageOf(one, nth) })).filter(({ age }) => age < 28);
}

function renderLabel(id: string, name: string | undefined): string {
  if (name === undefined) return `*Shield zone ${escapeMrkdwn(id, 20)}*`;
  return `*${escapeMrkdwn(name, 40)}* (shield zone ${formatCode(id, 20)})`;
}

export function renderScanningForm(): ModalView {
  return modal({ callbackId: 'upload-scanning:submit', title: 'Upload scanning', submit: 'Show' }, [
    searchSelect('shieldZoneId', 'Shield zone', {
      hint: 'In the control panel: Shield, your zone; the number is in the address. It is not the pull zone’s ID.',
      placeholder: 'Type its number, or a name given here',
      focus: true,
    }),
  ]);
}

function describeTotals(
  { totalLoggedRequests: logged, totalBlockedRequests: blocked }: UploadScanningMetrics,
  days: readonly ScanDay[],
): string {
  const found =
    blocked === undefined ? 'blocked requests not reported' : `${formatInteger(blocked)} blocked in 28 days`;
  return join(
    [
      join([found, describeWorstDay(days)], ' '),
      logged === undefined ? 'logged requests not reported' : `${formatInteger(logged)} logged`,
    ],
    ', ',
  );
}

function describeWorstDay(days: readonly ScanDay[]): string {
  if (days.length === 0) return '(none of the days reported)';
  const worst = days.reduce((most, day) =>
    (day.blockedRequests ?? 0) > (most.blockedRequests ?? 0) ? day : most,
  );
  const most = worst.blockedRequests ?? 0;
  return most > 0 ? `(most: ${formatInteger(most)} on ${escapeMrkdwn(nameDay(worst), 40)})` : '';
}

/** The totals are of 28 days; the picture has the days that are reported, and those without blocked requests lack in it. */
function describeReported(days: readonly ScanDay[]): string {
  const unreported = days.filter(({ blockedRequests }) => blockedRequests === undefined).length;
  const notes = [
    days.length > 0 && days.length < 28 && `${days.length} of 28 days reported one by one`,
    unreported > 0 && `blocked requests of ${formatCount(unreported, 'day')} not reported`,
  ];
  return join(notes, ' · ');
}

/** A key that is no day is shown as reported: guessing could swap day and month. */
function nameDay({ day, label }: ScanDay): string {
  return day ? formatShortDay(day) : label || 'no day';
}

type Member = 'loggedRequests' | 'blockedRequests' | 'filesScanned';

/** Sums of seven days, counted back from the newest. Files have another scale: they are drawn only where nothing else is. */
function renderWeeks(days: readonly AgedDay[]): MessageBlock[] {
  const [oldest, newestDay] = [days[0], days.at(-1)?.day];
  const weeks = Array.from({ length: oldest ? Math.ceil((oldest.age + 1) / 7) : 0 }, (_, back) => {
    const week = days.filter(({ age }) => Math.floor(age / 7) === back);
    const ends = newestDay === undefined ? [] : [6, 0].map((age) => shiftDay(newestDay, -7 * back - age));
    const names = week.length > 0 ? week.map(nameDay) : ends.map(formatShortDay);
    return { days: week, label: nameWeek(names) };
  }).toReversed();
  const series = (name: string, member: Member) => ({
    name,
    values: weeks.map((week) => sumMember(week.days, member)),
  });
  // Nobody knows whether entries whose keys are no days are of one week.
  const isDated = days.every(({ day }) => day !== undefined);
  const hasRequests = days.some((day) => (day.loggedRequests ?? day.blockedRequests) !== undefined);
  const drawn = hasRequests
    ? [series('Logged', 'loggedRequests'), series('Blocked', 'blockedRequests')]
    : [series('Files scanned', 'filesScanned')];
  const newest = drawn.flatMap(({ name, values }) => {
    const value = values.at(-1);
    return value === undefined ? [] : `${formatInteger(value)} ${name.toLowerCase()}`;
  });
  return renderChart({
    kind: 'bar',
    title: `${isDated ? 'Newest week' : 'Last seven entries'}: ${newest.join(', ') || 'not reported'}`,
    unit: `${hasRequests ? 'Requests' : 'Files'} per ${isDated ? 'week' : 'seven entries'}`,
    labels: weeks.map(({ label }) => label),
    series: drawn,
  });
}

function sumMember(days: readonly ScanDay[], member: Member): number | undefined {
  const values = days.flatMap((day) => day[member] ?? []);
  return values.length > 0 ? values.reduce((all, value) => all + value, 0) : undefined;
}

function nameWeek(names: readonly string[]): string {
  const [first = '', last = ''] = [names[0], names.at(-1)];
  const [date, month] = first.split(' ');
  const isSameMonth = month !== undefined && last.endsWith(` ${month}`);
  return first === last ? first : `${isSameMonth ? date : first}–${last}`;
}
