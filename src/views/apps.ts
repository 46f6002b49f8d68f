import type { ModalView, Option } from '@slack/types';
import type { AppSummary, LatencyPoint } from '../api/apps.ts';
import type { ZoneSummary } from '../api/zones/summary.ts';
import { actions, button, commandButton, context, message, section } from './blocks/blocks.ts';
import { formatMoment, formatShortMoments } from './blocks/dates.ts';
import { joinList } from './blocks/fields.ts';
import { modal, option, searchSelect, textInput } from './blocks/inputs.ts';
import { firstOf } from './blocks/menu.ts';
import type { Attachment, Message } from './blocks/message.ts';
import {
  escapeMrkdwn,
  formatCode,
  formatInteger,
  formatMoney,
  joinWithNonBreakingSpaces,
  plainText,
  pluralize,
  truncate,
  truncateLines,
} from './blocks/text.ts';

export interface App {
  readonly id: string;
  readonly app: AppSummary;
  /** The zones that lead to it, if they are cached. */
  readonly zones: readonly ZoneSummary[] | undefined;
  readonly asOf: Date;
  /** The value of the Refresh button. */
  readonly refresh: string;
}

/** A picture of more points would be a blur. */
const maxPoints = 1000;

/** Latency first: it is the reason for most alarms. */
export function renderApp({ id, app, zones, asOf, refresh }: App): Message {
  const facts = [
    `Latency now: *${formatLatency(app.currentLatency)}* · average: ${formatLatency(app.averageLatency)}${compareWithAverage(app)}`,
    `Volumes: ${app.totalVolumeSizeInGb === undefined ? 'not reported' : `${formatNumber(app.totalVolumeSizeInGb)} GB`}`,
    `Monthly cost: ${app.monthlyCost === undefined ? 'not reported' : formatMoney(app.monthlyCost)}`,
    ...(zones && zones.length > 0
      ? [`${zones.length === 1 ? 'Zone' : 'Zones'}: ${joinList(zones.map(({ name }) => name))}`]
      : []),
  ];
  const status = app.status === undefined ? '' : ` · ${formatStatus(app.status)}`;
  const chart = createChart(id, app.latencyChart.slice(-maxPoints));
  const plainFacts = `latency now ${formatLatency(app.currentLatency)}, average ${formatLatency(app.averageLatency)}, volumes ${app.totalVolumeSizeInGb === undefined ? 'not reported' : `${formatNumber(app.totalVolumeSizeInGb)} GB`}, monthly cost ${app.monthlyCost === undefined ? 'not reported' : formatMoney(app.monthlyCost)}`;
  return {
    ...message(`App ${escapeMrkdwn(id, 60)}: ${plainFacts}.`, [
      section(`*App* ${formatCode(id, 60)}${status}\n${facts.join('\n')}`),
      section(renderPoints(app.latencyChart)),
      context(
        `Latency as the CDN reports it: it names no unit. Cost in US dollars, by its price list. As of ${formatMoment(asOf)}`,
      ),
      actions(
        button('Refresh', 'apps:refresh', refresh),
        commandButton('Another app', 'app'),
        ...(zones?.[0]
          ? [commandButton(`Zone ${plainText(zones[0].name, 40)}`, `zone ${zones[0].id}`, 1)]
          : []),
      ),
    ]),
    ...(chart ? { files: [chart] } : {}),
  };
}

/** Without a unit, since the specification gives none. */
function formatLatency(value: number | undefined): string {
  return value === undefined ? 'not reported' : formatNumber(value);
}

function formatNumber(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

function compareWithAverage({ currentLatency: now, averageLatency: average }: AppSummary): string {
  if (now === undefined || average === undefined || average <= 0 || now < 0) return '';
  const change = Math.round((now / average - 1) * 100);
  if (change === 0) return ' (as usual)';
  return ` (now ${formatInteger(Math.abs(change))} % ${change > 0 ? 'above' : 'below'} it)`;
}

/** The set is open: an unknown status is shown as reported. The colour never stands alone. */
function formatStatus(status: string): string {
  const colour: Readonly<Record<string, string>> = {
    active: ':large_green_circle:',
    progressing: ':large_yellow_circle:',
    failing: ':red_circle:',
    suspended: ':red_circle:',
  };
  return `${colour[status] ?? ':white_circle:'} ${escapeMrkdwn(status, 40)}`;
}

/** The chart in words: its extremes, and the points as far as there is room. */
function renderPoints(all: readonly LatencyPoint[]): string {
  const shown = all.slice(-maxPoints);
  if (shown.length === 0) return 'The CDN reports no latency over time.';
  const labels = createLabels(shown);
  const at = (index: number) => escapeMrkdwn(labels[index] ?? '', 40);
  const values = shown.map((point) => point.latency);
  const [low, high] = [findLowest(values), findHighest(values)];
  const lines = values
    .map((value, index) => joinWithNonBreakingSpaces(`${at(index)} ${formatNumber(value)}`))
    .toReversed();
  return [
    `*Latency over time* · ${pluralize(all.length, 'point')}${hasTimes(shown) ? ', UTC' : ''}`,
    `Lowest ${formatNumber(values[low] ?? 0)} (${at(low)}) · highest ${formatNumber(values[high] ?? 0)} (${at(high)})`,
    `Newest first: ${truncateLines(lines, 900, ' · ')}`,
  ].join('\n');
}

function createChart(id: string, shown: readonly LatencyPoint[]): Attachment | undefined {
  if (shown.length < 2) return undefined;
  const labels = createLabels(shown);
  const values = shown.map((point) => point.latency);
  const [low, high] = [findLowest(values), findHighest(values)];
  const when = `${labels[0]} to ${labels.at(-1)}${hasTimes(shown) ? ', UTC' : ''}`;
  return {
    name: `latency-${id.replaceAll(/[^\w-]/gu, '').slice(0, 60) || 'app'}.png`,
    title: `Latency of ${truncate(id, 60)}`,
    altText: truncate(
      `Line chart of the latency of ${truncate(id, 60)}, ${when}: lowest ${formatNumber(values[low] ?? 0)} at ${labels[low]}, highest ${formatNumber(values[high] ?? 0)} at ${labels[high]}, last ${formatNumber(values.at(-1) ?? 0)}.`,
      1000,
    ),
    mimetype: 'image/png',
    content: {
      chart: {
        title: `Latency of ${truncate(id, 30)}`,
        subtitle: when,
        labels: labels.map((label) => truncate(label, 12)),
        panels: [{ kind: 'line', name: 'As reported, no unit given', series: [{ name: 'Latency', values }] }],
      },
    },
  };
}

function hasTimes(shown: readonly LatencyPoint[]): boolean {
  return shown.every(({ at }) => at !== undefined);
}

function createLabels(shown: readonly LatencyPoint[]): string[] {
  return hasTimes(shown)
    ? formatShortMoments(shown.map(({ at }) => at ?? 0))
    : shown.map(({ label }) => truncate(label, 40));
}

function findLowest(values: readonly number[]): number {
  return values.reduce((best, value, index) => (value < (values[best] ?? value) ? index : best), 0);
}

function findHighest(values: readonly number[]): number {
  return values.reduce((best, value, index) => (value > (values[best] ?? value) ? index : best), 0);
}

export interface ListedApp {
  readonly id: string;
  /** Names of the zones that lead to it. */
  readonly zones: readonly string[];
}

/** The form that asks for an app: a menu of those that the zones name, and a field for any other id. */
export function renderAppForm(): ModalView {
  return modal({ callbackId: 'apps:submit', title: 'Show an app', submit: 'Show' }, [
    searchSelect('app', 'App', {
      actionId: 'apps:pick',
      hint: 'The container applications that your zones lead to.',
      placeholder: 'Type a part of its id or of its zone',
      optional: true,
      focus: true,
    }),
    textInput('appId', 'Or its id', { placeholder: 'About 15 letters and digits', optional: true }),
  ]);
}

/** An option of that menu. */
export function renderAppOption({ id, zones }: ListedApp): Option {
  return option(id, id, `Zone ${firstOf(zones)}`);
}
