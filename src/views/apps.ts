import type { ModalView, Option } from '@slack/types';
import type { AppSummary, LatencyPoint } from '../api/apps.ts';
import type { ZoneSummary } from '../api/zones/summary.ts';
import { actions, context, type Message, message, section } from './blocks/blocks.ts';
import { button, commandButton } from './blocks/buttons.ts';
import { renderChart } from './blocks/chart.ts';
import { joinList } from './blocks/fields.ts';
import {
  formatInteger,
  formatMoment,
  formatMoney,
  formatNumber,
  formatShortMoments,
} from './blocks/format.ts';
import { modal, option, searchSelect, textInput } from './blocks/inputs.ts';
import { firstOf } from './blocks/menu.ts';
import { escapeMrkdwn, formatCode, join, plainText, truncate } from './blocks/text.ts';

export interface App {
  readonly id: string;
  readonly app: AppSummary;
  /** The zones that lead to it, if they are cached. */
  readonly zones: readonly ZoneSummary[] | undefined;
  readonly asOf: Date;
}

/** Latency first: it is the reason for most alarms. */
export function renderApp({ id, app, zones = [], asOf }: App): Message {
  const { currentLatency, averageLatency, totalVolumeSizeInGb: volumes, monthlyCost, status } = app;
  const now = formatLatency(currentLatency);
  const average = formatLatency(averageLatency);
  const size = volumes === undefined ? 'not reported' : `${formatNumber(volumes)} GB`;
  const cost = monthlyCost === undefined ? 'not reported' : formatMoney(monthlyCost);
  const range = describeRange(app.latencyChart);
  const facts = [
    join([`*App* ${formatCode(id, 60)}`, status !== undefined && formatStatus(status)], ' · '),
    `Latency now: *${now}* · average: ${average}${compareWithAverage(app)}`,
    `Volumes: ${size}`,
    `Monthly cost: ${cost}`,
    zones[0] && `${zones.length === 1 ? 'Zone' : 'Zones'}: ${joinList(zones.map(({ name }) => name))}`,
  ];
  const text = `App ${escapeMrkdwn(id, 60)}: latency now ${now}, average ${average}, volumes ${size}, monthly cost ${cost}. ${range}`;
  return message(text, [
    section(facts),
    ...renderLatencyChart(app),
    context(
      `${range} Latency as the CDN reports it: it names no unit. Cost in US dollars, by its price list. As of ${formatMoment(asOf)}`,
    ),
    actions(
      button('Refresh', 'apps:refresh', id),
      commandButton('Another app', 'app'),
      zones[0] && commandButton(`Zone ${plainText(zones[0].name, 40)}`, `zone ${zones[0].id}`, 1),
    ),
  ]);
}

/** Without a unit, since the specification gives none. */
function formatLatency(value: number | undefined): string {
  return value === undefined ? 'not reported' : formatNumber(value);
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

function describeRange(points: readonly LatencyPoint[]): string {
  const labels = createLabels(points);
  const sorted = points
    .map(({ latency }, at) => ({ latency, label: labels[at] ?? '' }))
    .toSorted((one, other) => one.latency - other.latency);
  const [lowest, highest] = [sorted.at(0), sorted.at(-1)].map(
    (point) => point && `${formatNumber(point.latency)} (${escapeMrkdwn(point.label, 40)})`,
  );
  return lowest ? `Lowest ${lowest}, highest ${highest}.` : 'The CDN reports no latency over time.';
}

function renderLatencyChart({ currentLatency: now, averageLatency, latencyChart }: AppSummary) {
  // A line needs two points.
  if (latencyChart.length < 2) return [];
  return renderChart({
    kind: 'line',
    title:
      now === undefined
        ? `Latency, average ${formatLatency(averageLatency)}`
        : `Latency ${formatLatency(now)} now`,
    unit: `Latency, no unit given${hasTimes(latencyChart) ? ' (times in UTC)' : ''}`,
    labels: createLabels(latencyChart),
    series: [{ name: 'Latency', values: latencyChart.map(({ latency }) => latency) }],
  });
}

function hasTimes(shown: readonly LatencyPoint[]): boolean {
  return shown.every(({ at }) => at !== undefined);
}

function createLabels(shown: readonly LatencyPoint[]): string[] {
  return hasTimes(shown)
    ? formatShortMoments(shown.map(({ at }) => at ?? 0))
    : shown.map(({ label }) => truncate(label, 40));
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

/** An option of that menu, with the names of the zones that lead to the app. */
export function renderAppOption({ id, zones }: { id: string; zones: readonly string[] }): Option {
  return option(id, id, `Zone ${firstOf(zones)}`);
}
