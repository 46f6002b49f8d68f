import type { ModalView, Option } from '@slack/types';
import type { AppSummary, LatencyPoint } from '../api/apps.ts';
import type { ZoneSummary } from '../api/zones/summary.ts';
import { toUtcDay } from '../lib/time.ts';
import { renderAnswer } from './blocks/answer.ts';
import { jsonFile, type Message } from './blocks/blocks.ts';
import { commandButton, type PanelPages, panelButton, replacingButton, selectOf } from './blocks/buttons.ts';
import { maxPoints, renderChart } from './blocks/chart.ts';
import {
  formatBytes,
  formatCount,
  formatMoment,
  formatNumber,
  formatShortDay,
  formatShortMoments,
  formatUtc,
} from './blocks/format.ts';
import { modal, option, searchSelect } from './blocks/inputs.ts';
import { firstOf } from './blocks/menu.ts';
import { escapeMrkdwn, join, plainText, truncate } from './blocks/text.ts';
import { renderNamedId } from './names.ts';
import { showButton } from './zones/rows.ts';

export interface App {
  readonly id: string;
  readonly name?: string | undefined;
  readonly app: AppSummary;
  /** The zones that lead to it, if they are cached. */
  readonly zones: readonly ZoneSummary[] | undefined;
  readonly panel: PanelPages;
  readonly asOf: Date;
}

export function renderApp({ id, name, app, zones = [], panel, asOf }: App): Message {
  const { status, monthlyCost: cost } = app;
  const label = escapeMrkdwn(name ?? id, 60);
  const latency = describeLatency(app);
  const facts = [
    cost === undefined ? 'cost not reported' : `cost ${formatNumber(cost)} a month`,
    describeVolumes(app),
  ];
  const state = status === undefined ? '' : ` is ${escapeMrkdwn(status, 40)}`;
  const answer = renderAnswer({
    text: join([`App ${label}${state}`, latency, ...facts], ' · '),
    lines: join(
      [`${isFailing(app) ? ':red_circle: ' : ''}${renderNamedId(id, name)}${state}`, latency],
      ' · ',
    ),
    picture: renderLatencyChart(app),
    actions: [
      zones.length > 1 &&
        selectOf(
          'Open a zone…',
          zones.slice(0, 100).map((zone) => showButton(zone.id, zone.name || zone.id)),
        ),
      zones.length === 1 && showButton(zones[0]?.id ?? '', `Zone ${plainText(zones[0]?.name ?? '', 40)}`),
    ],
    share: `app ${id}`,
    more: [
      replacingButton('Refresh', `app ${id}`),
      commandButton(name === undefined ? 'Give it a name' : 'Rename', `name app ${id}`, 1),
      commandButton('Another app', 'app'),
      panelButton(panel, 'app', id),
    ],
    notes: [
      app.unknownChart && unknownForm,
      app.unreadPoints && `${formatCount(app.unreadPoints, 'point')} of latency could not be read`,
      ...facts,
      `as of ${latency.endsWith('UTC') ? formatUtc(asOf) : formatMoment(asOf, '{time}')}`,
    ],
  });
  return app.unknownChart ? { ...answer, files: [jsonFile('latency', app.unknownChart)] } : answer;
}

const unknownForm = 'latency over time is in an unknown format: see the file';

/** The set is open: any other status is shown as reported. */
export function isFailing({ status }: { readonly status?: string | undefined }): boolean {
  return /^(?:failing|suspended)$/iu.test(status ?? '');
}

/** Now, on average and at the highest point of the chart, as the CDN reports it: without a unit, since the specification gives none. */
function describeLatency({ currentLatency: now, averageLatency: average, latencyChart }: AppSummary): string {
  const peak = describePeak(latencyChart.slice(-maxPoints));
  if (now === undefined && average === undefined) return join(['latency not reported', peak], ', ');
  return join(
    [
      now === undefined ? 'current latency not reported' : `latency ${formatNumber(now)}`,
      average === undefined ? 'average not reported' : `average ${formatNumber(average)}`,
      peak,
    ],
    ', ',
  );
}

function describeVolumes({ totalVolumeSizeInGb: size }: AppSummary): string {
  if (size === undefined) return 'volumes not reported';
  if (size === 0) return 'no volumes';
  return `volumes ${formatBytes(size * 1e9)}`;
}

/** `peak 49.7 on 2 Nov` */
function describePeak(points: readonly LatencyPoint[]): string {
  if (points.length === 0) return '';
  const labels = createLabels(points);
  const highest = Math.max(...points.map(({ latency }) => latency));
  const nth = points.findIndex(({ latency }) => latency === highest);
  const { at } = points[nth] ?? {};
  // Within a day its label is only the time.
  const isTime = at !== undefined && /^\d\d:\d\d$/u.test(labels[nth] ?? '');
  const label = isTime ? `${formatShortDay(toUtcDay(new Date(at)))} ${labels[nth]}` : (labels[nth] ?? '');
  const joint = hasTimes(points) ? 'on' : 'at';
  return `peak ${formatNumber(highest)} ${joint} ${escapeMrkdwn(label, 40)}${/\d:\d/u.test(label) ? ' UTC' : ''}`;
}

function renderLatencyChart({ latencyChart }: AppSummary) {
  if (latencyChart.length < 2) return [];
  return renderChart({
    kind: 'line',
    // Its newest value need not be the current one of the sentence.
    title: 'Latency over time',
    unit: 'Latency (no unit given)',
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

export function renderAppForm(): ModalView {
  return modal({ callbackId: 'apps:submit', title: 'Show an app', submit: 'Show' }, [
    searchSelect('app', 'App', {
      actionId: 'apps:pick',
      hint: 'Container apps that your zones use, or any other by its ID.',
      placeholder: 'Type part of its ID or of its zone',
      focus: true,
    }),
  ]);
}

export function renderAppOption({ id, zones }: { id: string; zones: readonly string[] }): Option {
  return option(id, id, `Zone ${firstOf(zones)}`);
}
