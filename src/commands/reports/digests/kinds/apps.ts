import { formatInteger, formatMoney, formatNumber, pluralize } from '../../../../views/blocks/format.ts';
import { formatCell, renderTable } from '../../../../views/blocks/table.ts';
import { escapeMrkdwn, formatCode, join } from '../../../../views/blocks/text.ts';
import {
  describeChange,
  describeComparison,
  formatDifference,
  renderTrend,
  sumReported,
} from '../../../../views/reports/digests/comparisons.ts';
import {
  type Comparison,
  compareWithPast,
  findEarlier,
  hasMoved,
  noise,
  type Point,
  trendOf,
} from '../figures.ts';
import { flattenName } from '../names.ts';
import { type CollectInput, type DigestKind, type Finding, readEach } from './kind.ts';

interface AppsFigures {
  readonly apps: readonly AppFigures[];
  /** Apps of the chosen zones beyond the first twenty. */
  readonly more: number;
}

interface AppFigures {
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
/** Lines of the chart; the points of further apps are not stored. */
const mostCharted = 6;

/** Application usage. Without chosen apps: those that the zones are linked to. */
export const apps: DigestKind<'apps', AppsFigures> = {
  name: 'apps',
  label: 'App usage',
  words: /\bapp/iu,
  target: 'apps',
  troubles: 'failing apps',

  async collect(input) {
    const { targets } = input;
    const ids = targets.apps.length > 0 ? targets.apps : await findLinkedApps(input);
    const chosen = ids.slice(0, mostApps);
    const { results, failures } = await readEach(chosen, String, (id) => collectApp(id, input));
    const apps = results?.map((app, index) => (index < mostCharted ? app : { ...app, trend: [] }));
    return { figures: apps && { apps, more: Math.max(0, ids.length - mostApps) }, failures };
  },

  countTroubles: ({ apps }) => apps.filter(isFailing).length,
  listSince: ({ apps }) => apps.map(({ since }) => since),

  listFindings: ({ apps }) =>
    apps.flatMap((app): Finding[] => {
      const { id, status, wasStatus, latency, average, cost, volumes } = app;
      const found: Finding[] = [];
      const add = (weight: number, about: unknown, sign: string, text: string): void =>
        void found.push({ weight, about, line: () => `${sign} App ${formatCode(id, 40)}${text}` });
      if (status !== undefined && wasStatus !== undefined && status !== wasStatus) {
        const [sign, weight] = isFailing(app) ? [':red_circle:', 1] : [':arrows_counterclockwise:', 5];
        add(weight, app, sign, ` is ${escapeMrkdwn(status, 30)}, was ${escapeMrkdwn(wasStatus, 30)}`);
      }
      if (latency?.usual !== undefined)
        add(4, average, ':snail:', `: latency ${describeComparison(latency, formatNumber)}`);
      else if (average && hasMoved(average, noise.latency))
        add(4, average, ':snail:', `: average latency ${describeComparison(average, formatNumber)}`);
      if (cost && hasMoved(cost, noise.dollars))
        add(5, cost, ':moneybag:', `: ${describeComparison(cost, formatMoney, ' a month')}`);
      if (volumes && hasMoved(volumes, 0))
        add(5, volumes, ':floppy_disk:', `: volumes ${describeComparison(volumes, formatGigabytes)}`);
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
    const formatComparison = latency && describeChange(latency, formatNumber);
    return {
      number: join(
        [
          `*${pluralize(apps.length, 'app')}*${more > 0 ? ` of ${formatInteger(apps.length + more)}` : ''}`,
          apps.length > 0 && charged,
          latency && `latency ${formatNumber(latency.now)}`,
          failing > 0 && `:red_circle: ${formatInteger(failing)} failing`,
        ],
        ' · ',
      ),
      compared: formatComparison ? `Latency: ${formatComparison}` : '',
    };
  },

  renderDetail({ apps, more }, _, timeZone) {
    if (apps.length === 0) return undefined;
    const trends = apps.map(({ id, trend }) => ({ name: id, points: trend }));
    const [only] = apps;
    const about = apps.length > 1 ? '' : `: ${formatNumber(only?.average?.now ?? 0)}`;
    return {
      lines: [],
      table: renderTable({
        caption: 'Apps',
        columns: ['App', 'Latency', 'Average', 'Cost a month', 'State', 'Volumes'],
        rows: apps.map(({ id, status, latency, average, cost, volumes }) => [
          id,
          formatCell(latency?.now, formatNumber),
          formatCell(average?.now, formatNumber),
          formatCell(cost?.now, formatMoney),
          status || 'not reported',
          formatCell(volumes?.now, formatGigabytes),
        ]),
        total: apps.length + more,
      }),
      note: 'Latency as the CDN reports it: it names no unit.',
      chart: renderTrend({ title: `Average latency${about}`, unit: 'No unit given' }, trends, timeZone),
    };
  },
};

async function findLinkedApps({ targets, zoneList }: CollectInput<AppsFigures>): Promise<string[]> {
  const wanted = new Set(targets.zones);
  const { zones } = await zoneList();
  const chosen = zones.filter(({ id }) => wanted.size === 0 || wanted.has(id));
  return [...new Set(chosen.flatMap(({ appId }) => appId ?? []))];
}

async function collectApp(id: string, input: CollectInput<AppsFigures>): Promise<AppFigures> {
  const app = await input.cdn.apps.summary(id);
  const past = findEarlier(input, ({ apps }) => apps.find((found) => found.id === id));
  const compare = (
    now: number | undefined,
    read: (found: AppFigures) => Comparison | undefined,
    floor: number,
  ): Comparison | undefined => (now === undefined ? undefined : compareWithPast(now, past, read, floor));
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

function formatGigabytes(value: number): string {
  return `${formatNumber(value)} GB`;
}
