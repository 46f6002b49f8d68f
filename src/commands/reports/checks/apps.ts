import type { AppSummary } from '../../../api/apps.ts';
import { UserError } from '../../../errors.ts';
import { formatMoney, formatNumber } from '../../../views/blocks/format.ts';
import { truncate } from '../../../views/blocks/text.ts';
import type { Evidence, LookInput, Observation, Part } from '../alerts/conditions/condition.ts';
import { defineCondition, explainFailures, type JudgeInput, readEach } from './check.ts';

const initial = { latency: 500, cost: 50 } as const;

/** Each is a request. */
const mostApps = 25;

interface AppFigure {
  /** Of the part and of *Why*: `failing`. */
  readonly text: string;
  readonly wrongIf: string;
  /** Undefined: the CDN did not report it. */
  readonly isWrong: boolean | undefined;
  readonly value?: number | undefined;
}

interface AppFacts {
  readonly read: readonly { readonly item: string; readonly value: AppSummary }[];
  readonly unread: readonly { readonly item: string; readonly why: string }[];
  /** Apps there are, and those that were asked for. */
  readonly of: number;
  readonly asked: number;
}

/** The CDN has no list of apps: those that zones are linked to. */
async function findApps(account: LookInput<unknown>['account']): Promise<ReadonlySet<string>> {
  const { zones } = await account.pullZones.all();
  const ids = new Set(zones.flatMap(({ appId }) => appId ?? []));
  if (ids.size === 0) throw new UserError('No zone is linked to an app.', 'Choose apps: edit the alert.');
  return ids;
}

/**
 * Reads the chosen apps, or those that zones are linked to. An app that is gone or not reported is neither wrong nor fine.
 *
 * @throws ApiError, BudgetSpent where none could be read.
 */
async function readApps({
  account,
  subject,
}: Pick<LookInput<unknown>, 'account' | 'subject'>): Promise<AppFacts> {
  const all = subject.targets.length > 0 ? new Set(subject.targets) : await findApps(account);
  const ids = [...all].slice(0, mostApps);
  const parts = await readEach(ids, (id) => account.apps.summary(id));
  return { read: parts.read, unread: explainFailures(parts), of: all.size, asked: ids.length };
}

/** @throws UserError where the CDN reports none of them. */
function judgeApps(
  { read, unread, of, asked }: AppFacts,
  judge: (app: AppSummary) => AppFigure,
): Observation {
  const found = read.map(({ item: id, value }) => ({ id, name: nameApp(id), figure: judge(value) }));
  const unknown = found.filter(({ figure }) => figure.isWrong === undefined);
  const [first] = unknown;
  if (first && unknown.length === found.length)
    throw new UserError(`App ${first.name}: ${first.figure.text}.`, 'Look at the app itself.');
  const values = found.flatMap(({ figure: { value } }) => (value === undefined ? [] : [value]));
  return {
    parts: found.flatMap(({ id, name, figure: { isWrong, text, value } }): Part[] =>
      isWrong ? [{ id, name, text, value }] : [],
    ),
    value: values.length > 0 ? Math.max(...values) : undefined,
    unread: [...unread.map(({ item }) => item), ...unknown.map(({ id }) => id)],
    evidence: [
      ...found
        .toSorted((a, b) => Number(b.figure.isWrong ?? 0.5) - Number(a.figure.isWrong ?? 0.5))
        .map(
          ({ name, figure: { text: is, wrongIf, isWrong = false } }): Evidence => ({
            name,
            is,
            wrongIf,
            isWrong,
          }),
        ),
      ...(of > asked
        ? [
            {
              name: `${of - asked} further apps`,
              is: `not checked: an alert reads ${mostApps}`,
              isWrong: false,
            },
          ]
        : []),
      ...unread.map(({ item, why }) => ({ name: nameApp(item), is: why, isWrong: false })),
    ].slice(0, 30),
  };
}

/** Next step of every condition of apps. */
function showApp(part: Part | undefined) {
  return { label: 'Show app', command: part ? `app ${part.id}` : 'app' };
}

function nameApp(id: string): string {
  return truncate(`app ${id}`, 60);
}

const fine = new Set(['active', 'progressing']);

/** An app that does not run. */
export const appStatus = defineCondition({
  name: 'app-status',
  label: 'App not active',
  words: /^(?!.*(?:latency|slow|cost)).*\bapps?\b/iu,
  target: 'apps',
  damping: { open: [2, 2], close: 2 },
  describe: () => 'an app is not active',
  read: readApps,
  judge: (facts: AppFacts) =>
    judgeApps(facts, ({ status }) => {
      const isKnown = status !== undefined && status !== 'unknown';
      return {
        text: isKnown ? status : 'the CDN does not know its status',
        wrongIf: 'not active or progressing',
        isWrong: isKnown ? !fine.has(status) : undefined,
      };
    }),
  next: showApp,
});

/** An app that answers slowly now. */
export const appLatency = defineCondition({
  name: 'app-latency',
  label: 'App latency',
  words: /latency|\bslow/iu,
  target: 'apps',
  threshold: {
    label: 'More than',
    unit: 'latency, as the CDN reports it',
    initial: initial.latency,
    least: 1,
    most: 1_000_000,
    hint: 'The CDN gives no unit: see what /cdn app shows now.',
  },
  // One slow moment is no incident.
  damping: { open: [2, 3], close: 3 },
  describe: ({ threshold = initial.latency }) => `latency of an app above ${formatNumber(threshold)}`,
  read: readApps,
  judge(facts: AppFacts, { subject }: JudgeInput): Observation {
    const { threshold = initial.latency } = subject;
    return judgeApps(facts, ({ currentLatency: now, averageLatency: average }) => {
      const wrongIf = `above ${formatNumber(threshold)}`;
      if (now === undefined)
        return { text: 'the CDN does not report its latency', wrongIf, isWrong: undefined };
      const usual = average === undefined ? '' : `, ${formatNumber(average)} on average`;
      return {
        text: `latency ${formatNumber(now)}${usual}`,
        wrongIf,
        isWrong: now > threshold,
        value: now,
      };
    });
  },
  formatValue: (latency) => `latency ${formatNumber(latency)}`,
  unit: 'Latency',
  next: showApp,
});

/** An app that costs more a month than it should. */
export const appCost = defineCondition({
  name: 'app-cost',
  label: 'Cost of an app',
  words: /\bcosts?\b/iu,
  target: 'apps',
  threshold: {
    label: 'More than',
    unit: 'dollars a month',
    initial: initial.cost,
    least: 1,
    most: 1_000_000,
  },
  leastEvery: 60,
  damping: { open: [1, 1], close: 1 },
  describe: ({ threshold = initial.cost }) => `an app costs more than ${formatMoney(threshold)} a month`,
  read: readApps,
  judge(facts: AppFacts, { subject }: JudgeInput): Observation {
    const { threshold = initial.cost } = subject;
    return judgeApps(facts, ({ monthlyCost: cost }) => {
      const wrongIf = `more than ${formatMoney(threshold)} a month`;
      if (cost === undefined)
        return { text: 'the CDN does not report its cost', wrongIf, isWrong: undefined };
      return { text: `${formatMoney(cost)} a month`, wrongIf, isWrong: cost > threshold, value: cost };
    });
  },
  formatValue: (dollars) => formatMoney(dollars),
  unit: 'Dollars a month',
  next: showApp,
});
