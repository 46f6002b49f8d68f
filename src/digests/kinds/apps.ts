import {
  escapeMrkdwn,
  formatCode,
  formatInteger,
  formatMoney,
  pluralize,
  truncate,
} from '../../views/blocks/text.ts';
import {
  describeChange,
  describeComparison,
  formatDifference,
  formatNumber,
  inBrackets,
  sumReported,
} from '../../views/digests/comparisons.ts';
import { dateRange, renderDetail, trendChart } from '../../views/digests/detail.ts';
import { flattenName } from '../figures/compact-ids.ts';
import {
  type Comparison,
  compareWithPast,
  findEarlier,
  hasMoved,
  noise,
  type Point,
  trendOf,
} from '../figures/series.ts';
import { type CollectInput, type DigestKind, type Finding, readEach } from './kind.ts';

export interface AppsFigures {
  readonly apps: readonly AppFigures[];
  /** Apps of the chosen zones beyond the first twenty. */
  readonly more: number;
}

export interface AppFigures {
  readonly id: string;
  readonly since?: string | undefined;
  /** Lower case; an open set. */
  readonly status?: string | undefined;
  readonly wasStatus?: string | undefined;
  /** As the CDN reports it: it names no unit. */
  readonly latency?: Comparison | undefined;
  readonly average?: Comparison | undefined;
  readonly cost?: Comparison | undefined;
  readonly volumes?: Comparison | undefined;
  /** Average latency, run by run. */
  readonly trend: readonly Point[];
}

const mostApps = 20;
/** A chart each; the points of further ones are not stored. */
const mostCharts = 3;

/** Application usage. Without chosen apps: those that the zones are linked to. */
export const apps: DigestKind<'apps', AppsFigures> = {
  name: 'apps',
  label: 'App usage',
  words: /\bapp/iu,
  target: 'apps',
  troubles: 'failing apps',

  async collect(input) {
    const ids = input.targets.apps.length > 0 ? input.targets.apps : await linkedApps(input);
    const { signal } = input;
    const { results, failures } = await readEach(
      ids.slice(0, mostApps),
      { signal, nameOf: (id) => id },
      (id) => collectApp(id, input),
    );
    if (results.length === 0 && ids.length > 0) return { figures: undefined, failures };
    const drawn = results.map((app, index) => (index < mostCharts ? app : { ...app, trend: [] }));
    return { figures: { apps: drawn, more: Math.max(0, ids.length - mostApps) }, failures };
  },

  countTroubles: ({ apps }) => apps.filter(isFailing).length,
  listSince: ({ apps }) => apps.map(({ since }) => since),

  listFindings: ({ apps }) =>
    apps.flatMap((app): Finding[] => {
      const { id, status, wasStatus, latency, average, cost, volumes } = app;
      const found: Finding[] = [];
      const name = `App ${formatCode(id, 40)}`;
      const add = (weight: number, about: unknown, text: string): void =>
        void found.push({ weight, about, line: () => text });
      if (status !== undefined && wasStatus !== undefined && status !== wasStatus) {
        const sign = isFailing(app) ? ':red_circle:' : ':arrows_counterclockwise:';
        const text = `${name} is ${escapeMrkdwn(status, 30)}, was ${escapeMrkdwn(wasStatus, 30)}`;
        add(isFailing(app) ? 1 : 5, app, `${sign} ${text}`);
      }
      if (latency?.usual !== undefined)
        add(4, average, `:snail: ${name}: latency ${describeComparison(latency, formatNumber)}`);
      else if (average && hasMoved(average, noise.latency))
        add(4, average, `:snail: ${name}: average latency ${describeComparison(average, formatNumber)}`);
      if (cost && hasMoved(cost, noise.dollars)) {
        const text = `${formatMoney(cost.now)} a month, ${describeChange(cost, formatMoney)}`;
        add(5, cost, `:moneybag: ${name}: ${text}`);
      }
      if (volumes && hasMoved(volumes, 0))
        add(5, volumes, `:floppy_disk: ${name}: volumes ${describeComparison(volumes, formatGigabytes)}`);
      return found;
    }),

  renderLine({ apps, more }) {
    const failing = apps.filter(isFailing).length;
    const cost = sumReported(apps.map(({ cost }) => cost?.now));
    const isComparable = apps.every(({ cost }) => cost === undefined || cost.before !== undefined);
    const before = isComparable ? sumReported(apps.map(({ cost }) => cost?.before)) : undefined;
    const latency = apps.length === 1 ? apps[0]?.latency : undefined;
    const charged =
      cost === undefined
        ? 'cost not reported'
        : `${formatMoney(cost)} a month${formatDifference(cost, before, formatMoney)}`;
    const compared = latency && describeChange(latency, formatNumber);
    return {
      number: [
        `*${pluralize(apps.length, 'app')}*${more > 0 ? ` of ${formatInteger(apps.length + more)}` : ''}`,
        ...(apps.length === 0 ? [] : [charged]),
        ...(latency ? [`latency ${formatNumber(latency.now)}`] : []),
        ...(failing > 0 ? [`:red_circle: ${formatInteger(failing)} failing`] : []),
      ].join(' · '),
      compared: compared ? `Latency: ${compared}` : '',
    };
  },

  renderThread({ apps, more }, changed, timeZone) {
    if (apps.length === 0) return undefined;
    const reported = new Set(changed.map(({ about }) => about));
    return renderDetail({
      title: 'App usage',
      changed,
      parts: {
        'By app': [
          ...apps.map((app) => renderRow(app, reported)),
          ...(more > 0 ? [`and ${pluralize(more, 'more app')}`] : []),
        ],
      },
      note: 'Latency as the CDN reports it: it names no unit.',
      charts: apps.slice(0, mostCharts).map(({ id, trend }) =>
        trendChart(trend, timeZone, {
          name: `latency-${id.replaceAll(/[^\w-]/gu, '').slice(0, 60) || 'app'}.png`,
          title: `Latency of ${truncate(id, 30)}`,
          axis: 'Average, no unit given',
          series: 'Latency',
          altText: `Line chart of the average latency of ${truncate(id, 60)}, ${dateRange(trend, timeZone)}`,
          format: formatNumber,
        }),
      ),
    });
  },
};

async function linkedApps({ targets, zoneList }: CollectInput<AppsFigures, never>): Promise<string[]> {
  const wanted = new Set(targets.zones);
  const { zones } = await zoneList();
  const linked = zones.flatMap(({ id, appId }) =>
    appId !== undefined && (wanted.size === 0 || wanted.has(id)) ? [appId] : [],
  );
  return [...new Set(linked)];
}

async function collectApp(id: string, input: CollectInput<AppsFigures, never>): Promise<AppFigures> {
  const app = await input.cdn.apps.summary(id);
  const past = findEarlier(input, ({ apps }) => apps.find((found) => found.id === id));
  const compare = (
    now: number | undefined,
    read: (found: AppFigures) => Comparison | undefined,
    floor: number,
  ): Comparison | undefined =>
    now === undefined ? undefined : compareWithPast(now, past, (found) => read(found)?.now, floor);
  const average = compare(app.averageLatency, (found) => found.average, noise.latency);
  return {
    id,
    since: past.since,
    status: app.status === undefined ? undefined : flattenName(app.status),
    wasStatus: past.previous?.figures.status,
    latency: compare(app.currentLatency, (found) => found.latency, noise.latency),
    average,
    cost: compare(app.monthlyCost, (found) => found.cost, noise.dollars),
    volumes: compare(app.totalVolumeSizeInGb, (found) => found.volumes, 0),
    trend: trendOf(past, input.now, average, (found) => found.average),
  };
}

function isFailing({ status }: AppFigures): boolean {
  return status === 'failing' || status === 'suspended';
}

function renderRow(app: AppFigures, reported: ReadonlySet<unknown>): string {
  const { id, status, latency, average, cost, volumes } = app;
  const compared = (one: Comparison, format: (value: number) => string): string =>
    reported.has(one) ? '' : inBrackets(one, format);
  return [
    `${formatCode(id, 40)}${status === undefined ? '' : ` ${escapeMrkdwn(status, 30)}`}`,
    `latency ${latency ? formatNumber(latency.now) : 'not reported'}`,
    `average ${average ? `${formatNumber(average.now)}${compared(average, formatNumber)}` : 'not reported'}`,
    cost
      ? `${formatMoney(cost.now)} a month${cost.before === cost.now ? '' : compared(cost, formatMoney)}`
      : 'cost not reported',
    ...(volumes ? [`volumes ${formatGigabytes(volumes.now)}`] : []),
  ].join(' · ');
}

function formatGigabytes(value: number): string {
  return `${formatNumber(value)} GB`;
}
