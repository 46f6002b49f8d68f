import type { AppSummary } from '../../../api/apps.ts';
import { UserError } from '../../../errors.ts';
import { isFailing } from '../../../views/apps.ts';
import { formatCount, formatInteger, formatNumber, pluralize } from '../../../views/blocks/format.ts';
import { formatCell } from '../../../views/blocks/table.ts';
import { escapeMrkdwn, join } from '../../../views/blocks/text.ts';
import {
  type Comparison,
  type Detail,
  describeChange,
  describeComparison,
  type Finding,
  formatDifference,
  type Point,
  type Section,
} from '../../../views/reports/digests/post.ts';
import { nameTarget, type Part } from '../../../views/reports/report.ts';
import type { AccountReads } from '../accounts.ts';
import {
  type CheckInput,
  compareEach,
  createNoneThereError,
  type DigestKind,
  defineCondition,
  findEarlier,
  flattenName,
  hasMoved,
  type Judged,
  judgeEach,
  listMissing,
  moreThan,
  noise,
  type Observation,
  readEach,
  sumReported,
  toNote,
} from './check.ts';

const mostApps = 25;

/** Reads the chosen apps, or those that (chosen) zones are linked to: the CDN has no list of apps. */
async function readApps(account: AccountReads, chosen: readonly string[], zoneIds: readonly string[] = []) {
  const { zones, skipped } = chosen.length > 0 ? { zones: [], skipped: 0 } : await account.pullZones.all();
  const linking = zones.filter(({ id }) => zoneIds.length === 0 || zoneIds.includes(id));
  const ids = [...new Set([...chosen, ...linking.flatMap(({ appId }) => appId ?? [])])];
  if (ids.length === 0 && skipped > 0) throw createNoneThereError(skipped);
  return { ...(await readEach(ids.slice(0, mostApps), account.apps.summary)), of: ids.length, skipped };
}

/** @throws UserError where the CDN reports none of them. */
async function checkApps(
  { account, targets, called }: CheckInput,
  wrongIf: string,
  judge: (app: AppSummary) => Pick<Judged, 'is' | 'isWrong' | 'value'>,
): Promise<Observation> {
  const facts = await readApps(account, targets);
  if (facts.of === 0) throw new UserError('No zone is linked to an app.', 'Edit the alert to choose apps.');
  const left = facts.of - facts.read.length - facts.failures.length;
  const limit = `not checked: an alert covers ${formatInteger(mostApps)}`;
  return judgeEach(facts, (id) => nameTarget('app', id, called), {
    notes: [
      ...(left > 0 ? [toNote(formatCount(left, 'further app'), limit)] : []),
      ...listMissing([], facts.skipped),
    ],
    // Nothing is known of the apps of zones that could not be read.
    isUnlisted: (id) => (left > 0 || facts.skipped > 0) && !facts.read.some(({ item }) => item === id),
    refuse: ({ name, is }) => new UserError(`${name}: ${is}.`, 'Check the app itself.'),
    judge: (app) => ({ wrongIf, ...judge(app) }),
  });
}

const ofApps = {
  target: 'apps',
  next: (part: Part | undefined) => ({ label: 'Show app', command: part ? `app ${part.id}` : 'app' }),
} as const;

/** The set is open: a status that is not known is neither wrong nor fine. */
function judgeStatus({ status = 'unknown' }: AppSummary): Pick<Judged, 'is' | 'isWrong'> {
  if (/^(?:active|progressing)$/iu.test(status)) return { is: status, isWrong: false };
  if (/^inactive$/iu.test(status) || isFailing({ status })) return { is: status, isWrong: true };
  const isUnknown = status.toLowerCase() === 'unknown';
  const is = isUnknown ? 'the CDN does not know its status' : `${status}, an unknown status`;
  return { is, isWrong: undefined };
}

export const appStatus = defineCondition({
  ...ofApps,
  name: 'app-status',
  label: 'App not active',
  words: /\b(?:apps?|containers?)\b/iu,
  damping: { open: [2, 2], close: 2 },
  describe: () => 'an app is not active',
  check: (input) => checkApps(input, 'not active or progressing', judgeStatus),
});

function judgeNumber(
  value: number | undefined,
  threshold: number,
  name: string,
  text: (now: number) => string,
) {
  if (value === undefined) return { is: `the CDN does not report its ${name}`, isWrong: undefined };
  return { is: text(value), isWrong: value > threshold, value };
}

export const appLatency = defineCondition({
  ...ofApps,
  name: 'app-latency',
  label: 'App latency',
  words: /latency|\bslow/iu,
  threshold: moreThan('latency, as the CDN reports it', 500, {
    hint: 'The CDN gives no unit: see what /cdn app shows now.',
  }),
  // One slow moment is no incident.
  damping: { open: [2, 3], close: 3 },
  describe: ({ threshold }) => `latency of an app above ${formatNumber(threshold)}`,
  check: (input) =>
    checkApps(
      input,
      `above ${formatNumber(input.threshold)}`,
      ({ currentLatency, averageLatency: average }) =>
        judgeNumber(currentLatency, input.threshold, 'latency', (now) => {
          const usual = average === undefined ? '' : `, ${formatNumber(average)} on average`;
          return `latency ${formatNumber(now)}${usual}`;
        }),
    ),
  formatValue: (latency) => `latency ${formatNumber(latency)}`,
  unit: 'Latency',
});

export const appCost = defineCondition({
  ...ofApps,
  name: 'app-cost',
  label: 'Cost of an app',
  words: /\bcosts?\b|expensive/iu,
  threshold: moreThan('a month, as the CDN reports it', 50, { hint: 'The CDN names no currency.' }),
  leastEvery: 60,
  damping: { open: [1, 1], close: 1 },
  describe: ({ threshold }) => `an app costs more than ${formatNumber(threshold)} a month`,
  check: (input) =>
    checkApps(input, `more than ${formatNumber(input.threshold)} a month`, ({ monthlyCost }) =>
      judgeNumber(monthlyCost, input.threshold, 'cost', (cost) => `costs ${formatNumber(cost)} a month`),
    ),
  formatValue: (cost) => formatNumber(cost),
  unit: 'Cost per month',
});

interface PastApp {
  readonly id: string;
  readonly status?: string | undefined;
  readonly average?: Comparison | undefined;
  readonly cost?: Comparison | undefined;
}

export const appsDigest: DigestKind<'apps', { readonly apps: readonly PastApp[] }> = {
  name: 'apps',
  label: 'App usage',
  words: appStatus.words,
  target: 'apps',
  troubles: 'failing apps',

  async collect(input) {
    const { account, targets, called, past, now } = input;
    const facts = await readApps(account, targets.apps, targets.zones);
    const { compared: apps, failures } = compareEach(facts, (id, app) => {
      const earlier = findEarlier({ past, now }, ({ apps }) => apps.find((found) => found.id === id));
      const compare = (metric: 'average' | 'cost', latest: number | undefined) =>
        latest === undefined ? undefined : earlier.compare(latest, (found) => found[metric]);
      const average = compare('average', app.averageLatency);
      return {
        id,
        name: nameTarget('App', id, called),
        since: earlier.since,
        status: app.status === undefined ? undefined : flattenName(app.status),
        was: earlier.previous?.figures,
        average,
        cost: compare('cost', app.monthlyCost),
        points: earlier.trend(average, (found) => found.average),
      };
    });
    if (!apps) return { failures };
    const figures = apps.map(({ id, status, average, cost }) => ({ id, status, average, cost }));
    const section = describeApps(apps, Math.max(0, facts.of - mostApps));
    return { section, figures: { apps: figures }, failures };
  },
};

type ComparedApp = PastApp & {
  readonly name: string;
  readonly since: string | undefined;
  readonly was: PastApp | undefined;
  readonly points: readonly Point[];
};

function describeApps(apps: readonly ComparedApp[], more: number): Section {
  const failing = apps.filter(isFailing).length;
  const cost = sumReported(apps.map(({ cost }) => cost?.now));
  const isComparable = apps.every(({ cost }) => cost === undefined || cost.before !== undefined);
  const before = isComparable ? sumReported(apps.map(({ cost }) => cost?.before)) : undefined;
  const charged =
    cost === undefined
      ? 'cost not reported'
      : `cost ${apps.some((app) => !app.cost) ? 'at least ' : ''}${formatNumber(cost)} a month${formatDifference(cost, before, formatNumber)}`;
  const latency = apps.length === 1 ? apps[0]?.average : undefined;
  const change = latency && describeChange(latency);
  return {
    troubles: failing,
    since: apps.map(({ since }) => since),
    findings: apps.flatMap(listFindings),
    number: join(
      [
        `*${pluralize(apps.length, 'app')}*${more > 0 ? ` of ${formatInteger(apps.length + more)}` : ''}`,
        apps.length > 0 && charged,
        latency && `average latency ${formatNumber(latency.now)}`,
        failing > 0 && `:red_circle: ${formatInteger(failing)} failing`,
      ],
      ' · ',
    ),
    compared: change ? `Average latency: ${change}` : '',
    detail: apps.length === 0 ? undefined : describeDetail(apps, more, latency),
  };
}

function listFindings(app: ComparedApp): Finding[] {
  const { name, status, was, average, cost } = app;
  const found: Finding[] = [];
  const add = (weight: number, sign: string, text: string): void =>
    void found.push({ weight, text: `${sign} ${escapeMrkdwn(name)}${text}` });
  const before = was?.status === undefined ? 'not reported' : escapeMrkdwn(was.status, 30);
  if (status !== undefined && was && status.toLowerCase() !== was.status?.toLowerCase()) {
    if (isFailing(app)) add(1, ':red_circle:', ` is ${escapeMrkdwn(status, 30)}, was ${before}`);
    else if (was.status !== undefined)
      add(5, ':arrows_counterclockwise:', ` is ${escapeMrkdwn(status, 30)}, was ${before}`);
  }
  const lost = [
    was?.status !== undefined && status === undefined && `state (was ${before})`,
    was?.average && !average && 'latency',
    was?.cost && !cost && 'cost',
  ];
  if (lost.some(Boolean)) add(5, ':grey_question:', ` no longer reports: ${join(lost, ', ')}`);
  if (average && hasMoved(average, noise.latency))
    add(4, ':snail:', `: average latency ${describeComparison(average, formatNumber)}`);
  if (cost && hasMoved(cost, noise.dollars))
    add(5, ':moneybag:', `: cost ${describeComparison(cost, formatNumber, ' a month')}`);
  return found;
}

function describeDetail(apps: readonly ComparedApp[], more: number, only: Comparison | undefined): Detail {
  return {
    lines: [],
    table: {
      caption: 'Apps',
      columns: ['App', 'Average latency', 'Cost per month', 'State'],
      rows: apps.map(({ id, name, status, average, cost }) => [
        name === `App ${id}` ? id : name,
        formatCell(average?.now, formatNumber),
        formatCell(cost?.now, formatNumber),
        status || 'not reported',
      ]),
      total: apps.length + more,
    },
    note: 'Latency and cost as the CDN reports them: it names no unit and no currency.',
    chart: {
      title: `Average latency${only ? `: ${formatNumber(only.now)}` : ''}`,
      unit: 'No unit given',
      series: apps.map(({ name, points }) => ({ name, points })),
    },
  };
}
