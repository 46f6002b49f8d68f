import type { AppSummary, LatencyPoint } from '../api/apps.ts';
import type { ZoneSummary } from '../api/zone-summary.ts';
import { actions, button, context, message, section, typing } from './blocks.ts';
import { shortMoments } from './chart-days.ts';
import { moment } from './dates.ts';
import { listed } from './facts.ts';
import type { Attachment, Message } from './message.ts';
import { money } from './numbers.ts';
import { code, count, cut, fit, foreign, grouped, plainly, unbroken } from './text.ts';

export interface App {
  readonly id: string;
  readonly app: AppSummary;
  /** The zones that lead to it, where they are known. */
  readonly zones: readonly ZoneSummary[] | undefined;
  readonly asOf: Date;
  /** What its Refresh button carries. */
  readonly refresh: string;
}

/** A picture of more would be a blur. */
const mostPoints = 1000;

/** Latency first: it is what people are woken for. */
export function app({ id, app, zones, asOf, refresh }: App): Message {
  const facts = [
    `Latency now: *${latency(app.currentLatency)}* · average: ${latency(app.averageLatency)}${compared(app)}`,
    `Volumes: ${app.totalVolumeSizeInGb === undefined ? 'not reported' : `${exact(app.totalVolumeSizeInGb)} GB`}`,
    `Monthly cost: ${app.monthlyCost === undefined ? 'not reported' : money(app.monthlyCost)}`,
    ...(zones && zones.length > 0
      ? [`${zones.length === 1 ? 'Zone' : 'Zones'}: ${listed(zones.map(({ name }) => name))}`]
      : []),
  ];
  const status = app.status === undefined ? '' : ` · ${statusOf(app.status)}`;
  const chart = chartOf(id, app.latencyChart.slice(-mostPoints));
  const plainFacts = `latency now ${latency(app.currentLatency)}, average ${latency(app.averageLatency)}, volumes ${app.totalVolumeSizeInGb === undefined ? 'not reported' : `${exact(app.totalVolumeSizeInGb)} GB`}, monthly cost ${app.monthlyCost === undefined ? 'not reported' : money(app.monthlyCost)}`;
  return {
    ...message(`App ${foreign(id, 60)}: ${plainFacts}.`, [
      section(`*App* ${code(id, 60)}${status}\n${facts.join('\n')}`),
      section(points(app.latencyChart)),
      context(
        `Latency as the CDN reports it: it names no unit. Cost in US dollars, by its price list. As of ${moment(asOf)}`,
      ),
      actions(
        button('Refresh', 'apps:refresh', refresh),
        typing('Another app', 'app'),
        ...(zones?.[0] ? [typing(`Zone ${plainly(zones[0].name, 40)}`, `zone ${zones[0].id}`, 1)] : []),
      ),
    ]),
    ...(chart ? { files: [chart] } : {}),
  };
}

/** As it came, digits grouped: nothing says what it counts. */
function latency(value: number | undefined): string {
  return value === undefined ? 'not reported' : exact(value);
}

function exact(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

function compared({ currentLatency: now, averageLatency: average }: AppSummary): string {
  if (now === undefined || average === undefined || average <= 0 || now < 0) return '';
  const change = Math.round((now / average - 1) * 100);
  if (change === 0) return ' (as usual)';
  return ` (now ${grouped(Math.abs(change))} % ${change > 0 ? 'above' : 'below'} it)`;
}

/** The set is open: what is unknown stays as it came. The colour never alone. */
function statusOf(status: string): string {
  const colour: Readonly<Record<string, string>> = {
    active: ':large_green_circle:',
    progressing: ':large_yellow_circle:',
    failing: ':red_circle:',
    suspended: ':red_circle:',
  };
  return `${colour[status] ?? ':white_circle:'} ${foreign(status, 40)}`;
}

/** What the chart shows, in words: its ends, and every point as long as that can be read. */
function points(all: readonly LatencyPoint[]): string {
  const shown = all.slice(-mostPoints);
  if (shown.length === 0) return 'The CDN reports no latency over time.';
  const labels = labelsOf(shown);
  const at = (index: number) => foreign(labels[index] ?? '', 40);
  const values = shown.map((point) => point.latency);
  const [low, high] = [lowest(values), highest(values)];
  const lines = values.map((value, index) => unbroken(`${at(index)} ${exact(value)}`)).toReversed();
  return [
    `*Latency over time* · ${count(all.length, 'point')}${timed(shown) ? ', UTC' : ''}`,
    `Lowest ${exact(values[low] ?? 0)} (${at(low)}) · highest ${exact(values[high] ?? 0)} (${at(high)})`,
    `Newest first: ${fit(lines, 900, ' · ')}`,
  ].join('\n');
}

function chartOf(id: string, shown: readonly LatencyPoint[]): Attachment | undefined {
  if (shown.length < 2) return undefined;
  const labels = labelsOf(shown);
  const values = shown.map((point) => point.latency);
  const [low, high] = [lowest(values), highest(values)];
  const when = `${labels[0]} to ${labels.at(-1)}${timed(shown) ? ', UTC' : ''}`;
  return {
    name: `latency-${id.replaceAll(/[^\w-]/gu, '').slice(0, 60) || 'app'}.png`,
    title: `Latency of ${cut(id, 60)}`,
    altText: cut(
      `Line chart of the latency of ${cut(id, 60)}, ${when}: lowest ${exact(values[low] ?? 0)} at ${labels[low]}, highest ${exact(values[high] ?? 0)} at ${labels[high]}, last ${exact(values.at(-1) ?? 0)}.`,
      1000,
    ),
    mimetype: 'image/png',
    content: {
      chart: {
        title: `Latency of ${cut(id, 30)}`,
        subtitle: when,
        labels: labels.map((label) => cut(label, 12)),
        panels: [{ kind: 'line', name: 'As reported, no unit given', series: [{ name: 'Latency', values }] }],
      },
    },
  };
}

function timed(shown: readonly LatencyPoint[]): boolean {
  return shown.every(({ at }) => at !== undefined);
}

function labelsOf(shown: readonly LatencyPoint[]): string[] {
  return timed(shown)
    ? shortMoments(shown.map(({ at }) => at ?? 0))
    : shown.map(({ label }) => cut(label, 40));
}

function lowest(values: readonly number[]): number {
  return values.reduce((best, value, index) => (value < (values[best] ?? value) ? index : best), 0);
}

function highest(values: readonly number[]): number {
  return values.reduce((best, value, index) => (value > (values[best] ?? value) ? index : best), 0);
}
