import type { ModalView } from '@slack/types';
import type { ScanDay, UploadScanningMetrics } from '../api/upload-scanning.ts';
import { actions, button, commandButton, context, message, plain, section } from './blocks/blocks.ts';
import { formatLongDay, formatMoment, formatShortDay } from './blocks/dates.ts';
import type { Attachment, Message } from './blocks/message.ts';
import {
  escapeMrkdwn,
  formatInteger,
  formatPercent,
  joinWithNonBreakingSpaces,
  pluralize,
  truncate,
  truncateLines,
} from './blocks/text.ts';

export interface Scanning {
  readonly id: string;
  readonly metrics: UploadScanningMetrics;
  readonly asOf: Date;
  /** The value of the Refresh button. */
  readonly refresh: string;
}

/** More than the expected 28 days, and few enough for a picture. */
const maxDays = 60;

/** Totals, the blocked share, and each day in words and as a chart. */
export function renderScanning({ id, metrics, asOf, refresh }: Scanning): Message {
  const { totalLoggedRequests: logged, totalBlockedRequests: blocked, totalFilesScanned: scanned } = metrics;
  const days = metrics.days.slice(-maxDays);
  const totals = `${formatAmount(scanned)} files scanned, ${formatAmount(logged)} requests logged, ${formatAmount(blocked)} blocked`;
  const headline = `Upload scanning of shield zone ${escapeMrkdwn(id, 20)}`;
  const share = describeBlockedShare(metrics);
  const blocks = [
    section(
      [
        `*${headline}*`,
        `Files scanned: *${formatAmount(scanned)}*`,
        `Requests logged: *${formatAmount(logged)}*`,
        `Requests blocked: *${formatAmount(blocked)}*`,
        `Blocked share: ${share}`,
      ].join('\n'),
    ),
    section(days.length === 0 ? 'The CDN reports no day of the past 28.' : renderDays(days)),
    context(`The past 28 days, by the CDN’s own days · as of ${formatMoment(asOf)}`),
    actions(
      button('Refresh', 'upload-scanning:refresh', refresh),
      commandButton('Another shield zone', 'scanning', 1),
    ),
  ];
  const picture = createChart(id, days, totals);
  return { ...message(`${headline}: ${totals}.`, blocks), ...(picture ? { files: [picture] } : {}) };
}

/** The form that asks for a shield zone; no specified operation lists them. */
export function renderScanningForm(): ModalView {
  return {
    type: 'modal',
    callback_id: 'upload-scanning:submit',
    title: plain('Upload scanning'),
    submit: plain('Show'),
    close: plain('Cancel'),
    blocks: [
      {
        type: 'input',
        block_id: 'shieldZoneId',
        label: plain('Shield zone id'),
        hint: plain(
          'In the control panel: Shield, your zone; the number is in the address. It is not the pull zone’s id.',
        ),
        element: {
          type: 'plain_text_input',
          action_id: 'shieldZoneId',
          placeholder: plain('501'),
          max_length: 20,
          focus_on_load: true,
        },
      },
    ],
  };
}

function formatAmount(number: number | undefined): string {
  return number === undefined ? 'not reported' : formatInteger(number);
}

function formatBrief(number: number | undefined): string {
  return number === undefined ? '–' : formatInteger(number);
}

/** Of logged requests only if plausible: some plans count a blocked request as logged, others do not. */
function describeBlockedShare(metrics: UploadScanningMetrics): string {
  const { totalLoggedRequests: logged, totalBlockedRequests: blocked, totalFilesScanned: scanned } = metrics;
  if (blocked === undefined) return 'not reported';
  const shares = [
    logged !== undefined && logged > 0 && blocked <= logged
      ? `*${formatPercent(blocked, logged)}* of the requests logged`
      : '',
    scanned !== undefined && scanned > 0 ? `${formatPercent(blocked, scanned)} of the files scanned` : '',
  ].filter(Boolean);
  return shares.join(', ') || (blocked === 0 ? 'nothing was blocked' : 'there is nothing to compare it with');
}

function renderDays(days: readonly ScanDay[]): string {
  const worst = days.reduce((most, day) =>
    (day.blockedRequests ?? 0) > (most.blockedRequests ?? 0) ? day : most,
  );
  const most = worst.blockedRequests ?? 0;
  const first = [
    most > 0 ? `Most blocked: ${formatInteger(most)} on ${formatDay(worst, formatLongDay)}` : '',
    days.every((day) => day.blockedRequests === 0) ? 'Nothing was blocked on any day.' : '',
  ];
  const lines = days.toReversed().map((day) => {
    const { filesScanned, loggedRequests, blockedRequests } = day;
    const numbers = [filesScanned, loggedRequests, blockedRequests]
      .map((number) => formatBrief(number))
      .join('/');
    return joinWithNonBreakingSpaces(`${formatDay(day, formatShortDay)} ${numbers}`);
  });
  const each = `Newest first, scanned/logged/blocked: ${truncateLines(lines, 2500, ' · ')}`;
  return [...first, each].filter(Boolean).join('\n');
}

/** A key that is no day is shown as reported: guessing could swap day and month. */
function formatDay(day: ScanDay, form: (day: string) => string): string {
  return day.day ? form(day.day) : escapeMrkdwn(day.label, 40) || '(no day)';
}

function createChart(id: string, days: readonly ScanDay[], totals: string): Attachment | undefined {
  const seen = days.filter((day) => day.filesScanned ?? day.loggedRequests ?? day.blockedRequests);
  const [first, last] = [days.at(0), days.at(-1)];
  if (!first || !last || days.length < 2 || seen.length === 0) return undefined;
  const when = `${pluralize(days.length, 'day')}, ${formatEdge(first)} to ${formatEdge(last)}`;
  return {
    name: `upload-scanning-${id.replaceAll(/\D/gu, '')}.png`,
    title: `Upload scanning of shield zone ${id}`,
    altText: truncate(`Bar charts of upload scanning by day, ${when}. Altogether ${totals}.`, 1000),
    mimetype: 'image/png',
    content: {
      chart: {
        title: `Upload scanning, shield zone ${truncate(id, 20)}`,
        subtitle: when,
        labels: days.map((day) => (day.day ? formatShortDay(day.day) : truncate(day.label, 12))),
        panels: [
          {
            kind: 'bars',
            name: 'Files scanned',
            series: [{ name: 'Files scanned', values: days.map((day) => day.filesScanned ?? null) }],
          },
          {
            kind: 'bars',
            name: 'Requests',
            series: [
              { name: 'Logged', values: days.map((day) => day.loggedRequests ?? null) },
              { name: 'Blocked', values: days.map((day) => day.blockedRequests ?? null) },
            ],
          },
        ],
      },
    },
  };
}

function formatEdge(day: ScanDay): string {
  return day.day ? formatLongDay(day.day) : truncate(day.label, 20);
}
