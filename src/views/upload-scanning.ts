import type { ModalView } from '@slack/types';
import type { ScanDay, UploadScanningMetrics } from '../api/upload-scanning.ts';
import { actions, context, type Message, type MessageBlock, message, section } from './blocks/blocks.ts';
import { button, commandButton } from './blocks/buttons.ts';
import { renderChart } from './blocks/chart.ts';
import {
  formatInteger,
  formatLongDay,
  formatMoment,
  formatPercent,
  formatShortDay,
} from './blocks/format.ts';
import { modal, textInput } from './blocks/inputs.ts';
import { escapeMrkdwn, join } from './blocks/text.ts';

export interface Scanning {
  readonly id: string;
  readonly metrics: UploadScanningMetrics;
  readonly asOf: Date;
}

/** Totals, the blocked share, and the newest days as a chart. */
export function renderScanning({ id, metrics, asOf }: Scanning): Message {
  const logged = formatAmount(metrics.totalLoggedRequests);
  const blocked = formatAmount(metrics.totalBlockedRequests);
  const scanned = formatAmount(metrics.totalFilesScanned);
  const headline = `Upload scanning of shield zone ${escapeMrkdwn(id, 20)}`;
  const worstDay = describeWorstDay(metrics.days);
  const facts = [
    `*${headline}*`,
    `Files scanned: *${scanned}*`,
    `Requests logged: *${logged}*`,
    `Requests blocked: *${blocked}*`,
    `Blocked share: ${describeBlockedShare(metrics)}`,
    worstDay,
  ];
  const text = `${headline}: ${scanned} files scanned, ${logged} requests logged, ${blocked} blocked. ${worstDay}`;
  return message(text.trim(), [
    section(facts),
    ...renderDayChart(metrics),
    context(`The past 28 days, by the CDN’s own days · as of ${formatMoment(asOf)}`),
    actions(
      button('Refresh', 'upload-scanning:refresh', id),
      commandButton('Another shield zone', 'scanning', 1),
    ),
  ]);
}

/** The form that asks for a shield zone; no specified operation lists them. */
export function renderScanningForm(): ModalView {
  return modal({ callbackId: 'upload-scanning:submit', title: 'Upload scanning', submit: 'Show' }, [
    textInput('shieldZoneId', 'Shield zone id', {
      hint: 'In the control panel: Shield, your zone; the number is in the address. It is not the pull zone’s id.',
      placeholder: '501',
      maxLength: 20,
      focus: true,
    }),
  ]);
}

function formatAmount(number: number | undefined): string {
  return number === undefined ? 'not reported' : formatInteger(number);
}

/** Of logged requests only if plausible: some plans count a blocked request as logged, others do not. */
function describeBlockedShare(metrics: UploadScanningMetrics): string {
  const { totalLoggedRequests: logged, totalBlockedRequests: blocked, totalFilesScanned: scanned } = metrics;
  if (blocked === undefined) return 'not reported';
  const shares = [
    logged && blocked <= logged && `*${formatPercent(blocked, logged)}* of the requests logged`,
    scanned && `${formatPercent(blocked, scanned)} of the files scanned`,
  ];
  return (
    join(shares, ', ') || (blocked === 0 ? 'nothing was blocked' : 'there is nothing to compare it with')
  );
}

function describeWorstDay(days: readonly ScanDay[]): string {
  if (days.length === 0) return 'The CDN reports no day of the past 28.';
  const worst = days.reduce((most, day) =>
    (day.blockedRequests ?? 0) > (most.blockedRequests ?? 0) ? day : most,
  );
  const most = worst.blockedRequests ?? 0;
  if (most > 0) return `Most blocked: ${formatInteger(most)} on ${formatDay(worst)}.`;
  return days.every((day) => day.blockedRequests === 0) ? 'Nothing was blocked on any day.' : '';
}

/** A key that is no day is shown as reported: guessing could swap day and month. */
function formatDay(day: ScanDay): string {
  return day.day ? formatLongDay(day.day) : escapeMrkdwn(day.label, 40) || '(no day)';
}

const daysDrawn = 14;

function renderDayChart({ days }: UploadScanningMetrics): MessageBlock[] {
  const labels = days.map(({ day, label }) => (day ? formatShortDay(day) : label));
  const chart = { kind: 'bar', labels, newest: daysDrawn } as const;
  type Member = 'loggedRequests' | 'blockedRequests' | 'filesScanned';
  const series = (name: string, member: Member) => ({ name, values: days.map((day) => day[member]) });
  /** Of the days that are drawn: the title must not count others. */
  const sum = (member: Member): string => {
    const values = days.slice(-daysDrawn).flatMap((day) => day[member] ?? []);
    return formatAmount(values.length > 0 ? values.reduce((all, value) => all + value, 0) : undefined);
  };
  if (days.every((day) => (day.loggedRequests ?? day.blockedRequests) === undefined)) {
    const title = `Files scanned by day: ${sum('filesScanned')}`;
    const scanned = [series('Files scanned', 'filesScanned')];
    return renderChart({ ...chart, title, unit: 'Files a day', series: scanned });
  }
  return renderChart({
    ...chart,
    title: `${sum('blockedRequests')} of ${sum('loggedRequests')} requests blocked`,
    unit: 'Requests a day',
    series: [series('Logged', 'loggedRequests'), series('Blocked', 'blockedRequests')],
  });
}
