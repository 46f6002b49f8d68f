import type { Collected } from '../reports/digest.ts';
import type { AppFigures, ErrorFigures, ScanFigures } from '../reports/digest-figures.ts';
import { type Finding, findings } from '../reports/digest-findings.ts';
import { shortDay } from './chart-days.ts';
import { exact, inBrackets, nameOf } from './digest-change.ts';
import { errorChart, latencyChart, scanChart } from './digest-charts.ts';
import { changedPart, detail, mostShown } from './digest-detail.ts';
import { daysBefore, gigabytes } from './digest-findings.ts';
import { zoneDetail } from './digest-zone-detail.ts';
import type { Message } from './message.ts';
import { money } from './numbers.ts';
import { code, count, fit, foreign, grouped } from './text.ts';

const mostCharts = 3;

/**
 * The detail of a digest, a message a kind: what changed in full, then what there is. What was told as a change is not
 * told again further down; in a first run there is nothing that changed.
 */
export function threadOf(collected: Collected, timeZone: string): Message[] {
  const { zones, errors, scanning, apps } = collected;
  const all = findings(collected);
  const changed = (...kinds: readonly Finding['kind'][]) => all.filter(({ kind }) => kinds.includes(kind));
  return [
    ...(zones
      ? [
          zoneDetail(
            zones,
            zones.since === undefined
              ? []
              : changed('became', 'recovered', 'joined', 'left', 'limit', 'traffic'),
            timeZone,
          ),
        ]
      : []),
    ...(errors ? [errorDetail(errors, changed('fresh', 'errors'), timeZone)] : []),
    ...(scanning && scanning.length > 0 ? [scanDetail(scanning, changed('blocked'))] : []),
    ...(apps && apps.apps.length > 0
      ? [appDetail(apps.apps, apps.more, changed('status', 'latency', 'cost', 'volumes'), timeZone)]
      : []),
  ];
}

function errorDetail(errors: ErrorFigures, changed: readonly Finding[], timeZone: string): Message {
  const told = new Set(changed.map((one) => (one.kind === 'errors' ? one.zone.id : undefined)));
  const failing = errors.zones.filter(({ total }) => total > 0);
  const rest = failing.length - mostShown;
  const partial = errors.zones.filter((zone) => zone.partial);
  const chart = errorChart(errors, timeZone);
  return detail(
    'Origin errors',
    [
      changedPart(changed),
      {
        title: 'By zone',
        lines: [
          ...failing.slice(0, mostShown).map((zone) => {
            const compared = told.has(zone.id) ? '' : inBrackets(zone.perDay, exact);
            return `*${grouped(zone.total)}* · ${nameOf(zone)}${compared}`;
          }),
          ...(rest > 0 ? [`and ${count(rest, 'more zone')}`] : []),
        ],
      },
      {
        title: 'By error',
        lines: errors.codes.map(
          ([word, times]) => `*${grouped(times)}* · ${word ? code(word, 60) : 'no code'}`,
        ),
      },
      {
        title: 'By address',
        lines: errors.prefixes.map(([prefix, times]) => `*${grouped(times)}* · ${code(prefix, 60)}`),
      },
      {
        title: 'The CDN holds more than it gave',
        lines: partial.length > 0 ? [fit(partial.map(nameOf), 1000, ', ')] : [],
      },
    ],
    `${errors.asked < errors.of ? `The logs of the ${grouped(errors.asked)} busiest of ${count(errors.of, 'zone')}. ` : ''}\`/cdn errors <zone>\` shows samples.`.replaceAll(
      '<zone>',
      '&lt;zone&gt;',
    ),
    chart ? [chart] : [],
  );
}

function scanDetail(scanning: readonly ScanFigures[], all: readonly Finding[]): Message {
  // The CDN's own days say something unusual in a first run too: then it stands beside the number.
  const changed = all.filter((one) => one.kind === 'blocked' && one.scan.since !== undefined);
  const told = new Set(changed.map((one) => (one.kind === 'blocked' ? one.scan : undefined)));
  return detail(
    'Upload scanning',
    [
      changedPart(changed),
      { title: 'By shield zone', lines: scanning.map((scan) => scanRow(scan, told.has(scan))) },
    ],
    'By the CDN’s own days; today is not over and not counted.',
    scanning.flatMap((one) => scanChart(one) ?? []).slice(0, mostCharts),
  );
}

function appDetail(
  apps: readonly AppFigures[],
  more: number,
  changed: readonly Finding[],
  timeZone: string,
): Message {
  return detail(
    'App usage',
    [
      changedPart(changed),
      {
        title: 'By app',
        lines: [
          ...apps.map((app) => appRow(app, changed)),
          ...(more > 0 ? [`and ${count(more, 'more app')}`] : []),
        ],
      },
    ],
    'Latency as the CDN reports it: it names no unit.',
    apps.flatMap((app) => latencyChart(app, timeZone) ?? []).slice(0, mostCharts),
  );
}

function amount(number: number | undefined): string {
  return number === undefined ? 'not reported' : grouped(number);
}

function scanRow({ id, scanned, blocked, last, days, perDay }: ScanFigures, isTold: boolean): string {
  const when =
    last === undefined ? 'no day reported' : days > 1 ? `${days} days to ${shortDay(last)}` : shortDay(last);
  const rate = perDay && !isTold ? inBrackets(perDay, exact, daysBefore(days)) : '';
  const numbers =
    blocked === undefined && scanned === undefined
      ? 'Nothing reported'
      : `*${amount(blocked)}* blocked of ${amount(scanned)} files scanned`;
  return `${numbers}, ${when} · shield zone ${foreign(id, 20)}${rate}`;
}

function appRow(app: AppFigures, changed: readonly Finding[]): string {
  const { id, status, latency, average, cost, volumes } = app;
  const isTold = (kind: 'latency' | 'cost'): boolean =>
    changed.some((one) => one.kind === kind && one.app === app);
  return [
    `${code(id, 40)}${status === undefined ? '' : ` ${foreign(status, 30)}`}`,
    `latency ${latency ? exact(latency.now) : 'not reported'}`,
    `average ${average ? `${exact(average.now)}${isTold('latency') ? '' : inBrackets(average, exact)}` : 'not reported'}`,
    cost
      ? `${money(cost.now)} a month${cost.before === cost.now || isTold('cost') ? '' : inBrackets(cost, money)}`
      : 'cost not reported',
    ...(volumes ? [`volumes ${gigabytes(volumes.now)}`] : []),
  ].join(' · ');
}
