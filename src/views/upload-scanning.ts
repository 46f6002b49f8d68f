import type { ModalView } from '@slack/types';
import type { ScanDay, UploadScanningMetrics } from '../api/upload-scanning.ts';
import { startOfDay } from '../lib/time.ts';
import { renderAnswer } from './blocks/answer.ts';
import type { Message, MessageBlock } from './blocks/blocks.ts';
import { button, commandButton } from './blocks/buttons.ts';
import { renderChart } from './blocks/chart.ts';
import { formatInteger, formatMoment, formatPercent, formatShortDay, pluralize } from './blocks/format.ts';
import { modal, searchSelect } from './blocks/inputs.ts';
import { selectOf } from './blocks/menu-of-buttons.ts';
import { type Cell, renderTable } from './blocks/table.ts';
import { escapeMrkdwn, formatCode, join } from './blocks/text.ts';

/** The ways to look at the past 28 days. */
export const scanningPictures = {
  newest: '14 days',
  weeks: '28 days by week',
  days: 'Every day as a table',
} as const;
export type ScanningPicture = keyof typeof scanningPictures;
export const scanningPictureNames = Object.keys(scanningPictures) as ScanningPicture[];

export interface Scanning {
  readonly id: string;
  /** As people here call it. */
  readonly name?: string | undefined;
  readonly metrics: UploadScanningMetrics;
  readonly picture?: ScanningPicture;
  readonly asOf: Date;
}

/** The blocked share, files and the worst day in words; the days as a chart. */
export function renderScanning({ id, name, metrics, picture = 'newest', asOf }: Scanning): Message {
  const { days } = metrics;
  const blocked = describeBlocked(metrics);
  const facts = [describeScanned(metrics), describeWorstDay(days)];
  return renderAnswer({
    text: `Shield zone ${escapeMrkdwn(name ?? id, 40)}: ${join([blocked, ...facts], ' · ')}`,
    lines: [`${renderLabel(id, name)}: ${blocked}`, join(facts, ' · ')],
    picture: { newest: renderNewest, weeks: renderWeeks, days: renderDays }[picture](days),
    actions: [
      days.length > 0 &&
        selectOf(
          scanningPictures[picture],
          scanningPictureNames.map((each) =>
            button(scanningPictures[each], `upload-scanning:show:${each}`, `${id} ${each}`),
          ),
          { chosen: scanningPictures[picture] },
        ),
    ],
    share: `scanning ${id} show:${picture}`,
    more: [
      button('Refresh', 'upload-scanning:show:refresh', `${id} ${picture}`),
      commandButton(name === undefined ? 'Give it a name' : 'Rename it', `name shield ${id}`, 1),
      commandButton('Another shield zone', 'scanning'),
    ],
    notes: ['Days are those of the CDN', `as of ${formatMoment(asOf)}`],
  });
}

function renderLabel(id: string, name: string | undefined): string {
  if (name === undefined) return `*Shield zone ${escapeMrkdwn(id, 20)}*`;
  return `*${escapeMrkdwn(name, 40)}* (shield zone ${formatCode(id, 20)})`;
}

/** The form that asks for a shield zone; no specified operation lists them. */
export function renderScanningForm(): ModalView {
  return modal({ callbackId: 'upload-scanning:submit', title: 'Upload scanning', submit: 'Show' }, [
    searchSelect('shieldZoneId', 'Shield zone', {
      hint: 'In the control panel: Shield, your zone; the number is in the address. It is not the pull zone’s id.',
      placeholder: 'Type its number, or a name given here',
      focus: true,
    }),
  ]);
}

/** Of logged requests only if plausible: some plans count a blocked request as logged, others do not. */
function describeBlocked(metrics: UploadScanningMetrics): string {
  const { totalLoggedRequests: logged, totalBlockedRequests: blocked, totalFilesScanned: scanned } = metrics;
  if (blocked === undefined) return 'blocked requests not reported';
  if (blocked === 0) return 'nothing blocked in 28 days';
  if (logged && blocked <= logged)
    return `${formatPercent(blocked, logged)} blocked of ${pluralize(logged, 'logged request')}`;
  const share = scanned && blocked <= scanned && ` (${formatPercent(blocked, scanned)} of the files)`;
  return `${pluralize(blocked, 'request')} blocked in 28 days${share || ''}`;
}

function describeScanned({ totalFilesScanned: scanned }: UploadScanningMetrics): string {
  return scanned === undefined ? 'files scanned not reported' : `${pluralize(scanned, 'file')} scanned`;
}

function describeWorstDay(days: readonly ScanDay[]): string {
  if (days.length === 0) return 'no day of the past 28 reported';
  const worst = days.reduce((most, day) =>
    (day.blockedRequests ?? 0) > (most.blockedRequests ?? 0) ? day : most,
  );
  const most = worst.blockedRequests ?? 0;
  return most > 0 ? `most blocked: ${formatInteger(most)} on ${escapeMrkdwn(nameDay(worst), 40)}` : '';
}

/** A key that is no day is shown as reported: guessing could swap day and month. */
function nameDay({ day, label }: ScanDay): string {
  return day ? formatShortDay(day) : label || 'no day';
}

function renderNewest(days: readonly ScanDay[]): MessageBlock[] {
  const newest = days.slice(-14);
  return renderBars(newest, newest.map(nameDay), { period: pluralize(newest.length, 'day'), unit: 'a day' });
}

/** Sums of seven days, counted back from the newest. */
function renderWeeks(days: readonly ScanDay[]): MessageBlock[] {
  const weeks = Array.from({ length: Math.ceil(days.length / 7) }, (_, back) =>
    days.slice(Math.max(0, days.length - (back + 1) * 7), days.length - back * 7),
  ).toReversed();
  const sums = weeks.map((week) => ({
    label: '',
    ...sumMember(week, 'loggedRequests'),
    ...sumMember(week, 'blockedRequests'),
    ...sumMember(week, 'filesScanned'),
  }));
  const labels = weeks.map((week) => nameWeek(week.map(nameDay)));
  return renderBars(sums, labels, { period: pluralize(days.length, 'day'), unit: 'a week' });
}

/** `26 Oct–1 Nov`, `2–8 Nov` */
function nameWeek(names: readonly string[]): string {
  const [first = '', last = ''] = [names[0], names.at(-1)];
  const [date, month] = first.split(' ');
  const isSameMonth = month !== undefined && last.endsWith(` ${month}`);
  return first === last ? first : `${isSameMonth ? date : first}–${last}`;
}

type Member = 'loggedRequests' | 'blockedRequests' | 'filesScanned';

/** Absent where no day reported it. */
function sumMember(days: readonly ScanDay[], member: Member): Partial<Record<Member, number>> {
  const values = days.flatMap((day) => day[member] ?? []);
  return values.length > 0 ? { [member]: values.reduce((all, value) => all + value, 0) } : {};
}

/** Files have another scale, so they are drawn only where nothing else is reported. */
function renderBars(
  bars: readonly ScanDay[],
  labels: readonly string[],
  { period, unit }: { readonly period: string; readonly unit: string },
): MessageBlock[] {
  const series = (name: string, member: Member) => ({ name, values: bars.map((bar) => bar[member]) });
  const count = (member: Member): string => {
    const sum = sumMember(bars, member)[member];
    return sum === undefined ? 'not reported' : formatInteger(sum);
  };
  if (bars.every((bar) => (bar.loggedRequests ?? bar.blockedRequests) === undefined)) {
    const title = `${count('filesScanned')} files scanned in ${period}`;
    const files = [series('Files scanned', 'filesScanned')];
    return renderChart({ kind: 'bar', labels, title, unit: `Files ${unit}`, series: files });
  }
  return renderChart({
    kind: 'bar',
    labels,
    title: `${count('blockedRequests')} of ${count('loggedRequests')} requests blocked in ${period}`,
    unit: `Requests ${unit}`,
    series: [series('Logged', 'loggedRequests'), series('Blocked', 'blockedRequests')],
  });
}

function renderDays(days: readonly ScanDay[]): MessageBlock[] {
  const areDays = days.every(({ day }) => day !== undefined);
  return renderTable({
    caption: 'Newest day first',
    columns: ['Day', 'Blocked', 'Logged', 'Scanned'],
    rows: days
      .toReversed()
      .map((one) => [
        areDays ? { number: startOfDay(one.day ?? ''), text: nameDay(one) } : nameDay(one),
        renderNumber(one.blockedRequests),
        renderNumber(one.loggedRequests),
        renderNumber(one.filesScanned),
      ]),
  });
}

function renderNumber(value: number | undefined): Cell {
  return value === undefined
    ? { number: -1, text: 'not reported' }
    : { number: value, text: formatInteger(value) };
}
