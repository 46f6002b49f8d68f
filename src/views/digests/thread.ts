import type { AppFigures, ErrorFigures, ScanFigures } from '../../digests/figures/figures.ts';
import { type Finding, findFindings } from '../../digests/figures/findings.ts';
import type { Collected } from '../../digests/model.ts';
import { formatShortDay } from '../blocks/date-labels.ts';
import type { Message } from '../blocks/message.ts';
import { formatMoney } from '../blocks/numbers.ts';
import { escapeMrkdwn, formatCode, formatInteger, pluralize, truncateLines } from '../blocks/text.ts';
import { bracket, describeName, exact } from './change.ts';
import { errorChart, latencyChart, scanChart } from './charts.ts';
import { changedPart, mostShown, renderDetail } from './detail.ts';
import { daysBefore, gigabytes } from './findings.ts';
import { renderZoneDetail } from './zone-detail.ts';

const mostCharts = 3;

/**
 * The detail of a digest, a message a kind: what changed in full, then what there is. What was told as a change is not
 * told again further down; in a first run there is nothing that changed.
 */
export function renderThread(collected: Collected, timeZone: string): Message[] {
  const { zones, errors, scanning, apps } = collected;
  const all = findFindings(collected);
  const changed = (...kinds: readonly Finding['kind'][]) => all.filter(({ kind }) => kinds.includes(kind));
  return [
    ...(zones
      ? [
          renderZoneDetail(
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
  return renderDetail(
    'Origin errors',
    [
      changedPart(changed),
      {
        title: 'By zone',
        lines: [
          ...failing.slice(0, mostShown).map((zone) => {
            const compared = told.has(zone.id) ? '' : bracket(zone.perDay, exact);
            return `*${formatInteger(zone.total)}* · ${describeName(zone)}${compared}`;
          }),
          ...(rest > 0 ? [`and ${pluralize(rest, 'more zone')}`] : []),
        ],
      },
      {
        title: 'By error',
        lines: errors.codes.map(
          ([word, times]) => `*${formatInteger(times)}* · ${word ? formatCode(word, 60) : 'no code'}`,
        ),
      },
      {
        title: 'By address',
        lines: errors.prefixes.map(
          ([prefix, times]) => `*${formatInteger(times)}* · ${formatCode(prefix, 60)}`,
        ),
      },
      {
        title: 'The CDN holds more than it gave',
        lines: partial.length > 0 ? [truncateLines(partial.map(describeName), 1000, ', ')] : [],
      },
    ],
    `${errors.asked < errors.of ? `The logs of the ${formatInteger(errors.asked)} busiest of ${pluralize(errors.of, 'zone')}. ` : ''}\`/cdn errors <zone>\` shows samples.`.replaceAll(
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
  return renderDetail(
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
  return renderDetail(
    'App usage',
    [
      changedPart(changed),
      {
        title: 'By app',
        lines: [
          ...apps.map((app) => appRow(app, changed)),
          ...(more > 0 ? [`and ${pluralize(more, 'more app')}`] : []),
        ],
      },
    ],
    'Latency as the CDN reports it: it names no unit.',
    apps.flatMap((app) => latencyChart(app, timeZone) ?? []).slice(0, mostCharts),
  );
}

function amount(number: number | undefined): string {
  return number === undefined ? 'not reported' : formatInteger(number);
}

function scanRow({ id, scanned, blocked, last, days, perDay }: ScanFigures, isTold: boolean): string {
  const when =
    last === undefined
      ? 'no day reported'
      : days > 1
        ? `${days} days to ${formatShortDay(last)}`
        : formatShortDay(last);
  const rate = perDay && !isTold ? bracket(perDay, exact, daysBefore(days)) : '';
  const numbers =
    blocked === undefined && scanned === undefined
      ? 'Nothing reported'
      : `*${amount(blocked)}* blocked of ${amount(scanned)} files scanned`;
  return `${numbers}, ${when} · shield zone ${escapeMrkdwn(id, 20)}${rate}`;
}

function appRow(app: AppFigures, changed: readonly Finding[]): string {
  const { id, status, latency, average, cost, volumes } = app;
  const isTold = (kind: 'latency' | 'cost'): boolean =>
    changed.some((one) => one.kind === kind && one.app === app);
  return [
    `${formatCode(id, 40)}${status === undefined ? '' : ` ${escapeMrkdwn(status, 30)}`}`,
    `latency ${latency ? exact(latency.now) : 'not reported'}`,
    `average ${average ? `${exact(average.now)}${isTold('latency') ? '' : bracket(average, exact)}` : 'not reported'}`,
    cost
      ? `${formatMoney(cost.now)} a month${cost.before === cost.now || isTold('cost') ? '' : bracket(cost, formatMoney)}`
      : 'cost not reported',
    ...(volumes ? [`volumes ${gigabytes(volumes.now)}`] : []),
  ].join(' · ');
}
