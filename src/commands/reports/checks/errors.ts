import { UserError } from '../../../errors.ts';
import { dayMs, minuteMs } from '../../../lib/time.ts';
import {
  countOf,
  formatCount,
  formatDuration,
  formatInteger,
  formatNumber,
  listSome,
  pluralize,
} from '../../../views/blocks/format.ts';
import { formatCode, truncate, truncateLines } from '../../../views/blocks/text.ts';
import {
  type Comparison,
  type Detail,
  describeComparison,
  describeName,
  describeRate,
  type Finding,
  isIncrease,
  type Named,
} from '../../../views/reports/digests/post.ts';
import { type Evidence, formatRunTime, type Part } from '../../../views/reports/report.ts';
import { chooseZones, mostLogs, readOriginHost } from '../../origin-errors/choose-zones.ts';
import type { ErrorCounts } from '../accounts.ts';
import {
  assertListed,
  type CheckInput,
  type CollectInput,
  type CollectResult,
  createIsGone,
  createNoneThereError,
  type DigestKind,
  defineCondition,
  explainFailures,
  findEarlier,
  flattenName,
  hasMoved,
  type Judged,
  listMissing,
  moreThan,
  mostEvidence,
  nameZone,
  noise,
  type Observation,
  observe,
  readEach,
  toFact,
  toNamed,
  toNote,
} from './check.ts';

type NamedZone = Named & { readonly host: string | undefined };
type ReadZone = NamedZone & { readonly counts: ErrorCounts };

type ErrorLogs = Awaited<ReturnType<typeof readLogs>>;

/**
 * Counts the errors of the zones with these ids or origin hosts, or of all; of those that matter most where there are too
 * many. `assertTime` throws to read no more. @throws UserError where none is there.
 */
async function readLogs(
  { account, targets }: Pick<CheckInput, 'account' | 'targets'>,
  {
    isByHost = false,
    since,
    assertTime,
  }: {
    readonly isByHost?: boolean;
    readonly since?: number;
    readonly assertTime?: () => void;
  } = {},
) {
  const list = await account.pullZones.all();
  // A digest of no zones says so.
  const { zones: all, skipped } = since === undefined ? assertListed(list) : list;
  const wanted = new Set(targets.map((id) => id.trim().toLowerCase()));
  const missing = new Set(wanted);
  const zones = all.filter((zone) => {
    const host = readOriginHost(zone);
    const found = [zone.id, host ?? ''].filter((one) => wanted.has(one));
    for (const one of found) missing.delete(one);
    return wanted.size > 0 ? found.length > 0 : host !== undefined || !isByHost;
  });
  if (isByHost && zones.length === 0)
    throw new UserError('No zone fetches from the hosts of this alert.', 'Edit the alert.');
  if (zones.length === 0 && (wanted.size > 0 || skipped > 0)) throw createNoneThereError(skipped);
  const chosen = chooseZones(zones, zones.length > mostLogs ? await account.knownZones() : {});
  const named = chosen.map((zone) => ({ id: zone.id, name: nameZone(zone), host: readOriginHost(zone) }));
  const { read, failures } = await readEach(named, async ({ id }) => {
    assertTime?.();
    return account.errors(id, since);
  });
  const rest = zones.length - chosen.length;
  const of = zones.length + (wanted.size > 0 ? missing.size : skipped);
  const limit = `not checked: an alert covers ${formatCount(mostLogs, 'zone')}, those with recent errors first`;
  const unread = rest > 0 ? [toNote(countOf(rest, of, 'zone'), limit)] : [];
  return {
    read: read.map(({ item, value: counts }) => ({ ...item, counts })),
    failures,
    /** Zones whose logs were to be read, and zones there are. */
    asked: chosen.length,
    of,
    /** Whether some are too many, or not listed. */
    isCut: rest > 0 || skipped > 0,
    isGone: isByHost ? undefined : createIsGone(list),
    /** Notes on unread zones other than `failures`. */
    notes: [...unread, ...listMissing(missing, skipped)],
  };
}

function explainUnread(facts: ErrorLogs): Evidence[] {
  return [...explainFailures(facts, ({ name }) => name), ...facts.notes];
}

function addCounts(sums: Map<string, number>, counts: Iterable<readonly [string, number]>): void {
  for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count);
}

function rank(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].toSorted((a, b) => b[1] - a[1]);
}

/** `502 errors in 10 minutes`, or `at least …`; `text` adds ` (mostly http_timeout)` where one code makes up half of them. */
function sumWindow(zones: readonly ReadZone[], { now, window }: CheckInput, isPartial = false) {
  const from = now.getTime() - window * minuteMs;
  const sums = zones.map(({ counts }) => counts.sum(from));
  const codes = new Map<string, number>();
  for (const sum of sums) addCounts(codes, sum.codes);
  const total = sums.reduce((all, sum) => all + sum.total, 0);
  const undated = sums.reduce((all, sum) => all + sum.undated, 0);
  const hasMore = sums.some((sum) => sum.hasMore);
  const least = isPartial || sums.some(({ partial }) => partial) ? 'at least ' : '';
  const errors = total === 0 && least !== '' ? 'no errors seen' : `${least}${pluralize(total, 'error')}`;
  const count = `${errors} in ${formatDuration(window * minuteMs)}`;
  const [[code, most] = ['', 0]] = rank(codes);
  const isMostly = code !== '' && most * 2 >= total;
  return {
    total,
    undated,
    hasMore,
    count,
    text: isMostly ? `${count} (mostly ${code.slice(0, 40)})` : count,
  };
}

/** Errors without a readable time may be in the window. @throws UserError where they are more than `room`, which change nothing */
function explainUncounted(read: readonly ReadZone[], input: CheckInput, room: number): Evidence[] {
  const { undated } = sumWindow(read, input);
  if (undated > room)
    throw new UserError(
      `The CDN reports ${pluralize(undated, 'origin error')} without a readable time, so it is unknown how many are recent.`,
      '`/cdn errors` shows them.',
    );
  return [
    ...(undated > 0 ? [toNote(pluralize(undated, 'error'), 'not counted: no readable time')] : []),
    ...findCut(read, input).map(({ name }) =>
      toNote(name, 'not all checked: the CDN holds more errors than it returned'),
    ),
  ];
}

/** Of these zones the CDN holds more errors than it returned. */
function findCut(read: readonly ReadZone[], input: CheckInput): readonly ReadZone[] {
  return read.filter((zone) => sumWindow([zone], input).hasMore);
}

/** A zone with less than this share of all errors, and no more than the threshold, is not named. */
const leastShare = 0.1;

async function checkErrors(input: CheckInput, isByHost: boolean): Promise<Observation> {
  const { threshold } = input;
  const facts = await readLogs(input, { isByHost });
  const { read, failures } = facts;
  const notes = explainUnread(facts);
  const idOf = ({ id, host = '' }: NamedZone): string => (isByHost ? host : id);
  const unread = [...failures.map(({ item }) => item), ...findCut(read, input)].map(idOf);
  const all = sumWindow(read, input, facts.of > read.length);
  const sums = [...Map.groupBy(read, idOf)]
    .map(([id, zones]) => {
      const { text, total } = sumWindow(zones, input, isByHost && (unread.includes(id) || facts.isCut));
      const is = zones.length > 1 ? `${text} of ${formatCount(zones.length, 'zone')}` : text;
      return { id, zones, is, value: total, name: isByHost ? truncate(id, 60) : (zones[0]?.name ?? id) };
    })
    .toSorted((a, b) => b.value - a.value);
  const value = isByHost ? (sums[0]?.value ?? 0) : all.total;
  const isFiring = value > threshold;
  const least = isByHost ? threshold + 1 : Math.min(threshold + 1, all.total * leastShare);
  const room = isFiring ? Number.POSITIVE_INFINITY : threshold - value;
  const isTogether = !isByHost && read.length > 1;
  const wrongIf = `more than ${formatInteger(threshold)}${isTogether ? ' together' : ''}`;
  const judged = sums.map((one) => ({
    ...one,
    wrongIf,
    isWrong: isFiring && one.value > 0 && one.value >= least,
  }));
  const seen = observe(judged, {
    value,
    unread,
    isUnlisted: (id) => facts.isCut && !sums.some((one) => one.id === id),
    isGone: facts.isGone,
    // By host only zones of hosts that fired are added up.
    countSince: (from, fired) =>
      sums
        .filter(({ name }) => !isByHost || fired.includes(name))
        .flatMap(({ zones }) => zones)
        .reduce((sum, { counts }) => sum + counts.sum(from).total, 0),
    notes: [...explainUncounted(read, input, room), ...notes],
  });
  if (!isTogether) return seen;
  const name = `${pluralize(read.length, 'zone')} together`;
  const together = { name, is: all.count, wrongIf, isWrong: isFiring };
  return { ...seen, evidence: [together, ...seen.evidence].slice(0, mostEvidence) };
}

const withoutTarget = `Empty = up to ${formatCount(mostLogs, 'zone')}: those with recent errors, then the busiest.`;

const ofLogs = {
  withoutTarget,
  // The id of a part begins with its zone's.
  next: (part: Part | undefined) => ({
    label: 'Show errors',
    command: part ? `errors ${part.id.split('/', 1)[0]}` : 'errors',
  }),
};

/** An error counts in the window for several checks, which damps. */
const inWindow = {
  ...ofLogs,
  window: { initial: 10 },
  damping: { open: [1, 1], close: 3 },
  formatValue: (errors: number) => pluralize(errors, 'error'),
} as const;

export const originErrors = defineCondition({
  ...inWindow,
  name: 'errors',
  label: 'Origin errors',
  words: /error|\bfail|\bdown\b|\b5(?:\d\d|xx)\b/iu,
  target: 'zones',
  threshold: moreThan('errors', 50, { least: 0, hint: `Of all chosen zones together. ${withoutTarget}` }),
  describe: ({ threshold, window }) =>
    `more than ${formatCount(threshold, 'origin error')} in ${formatDuration(window * minuteMs)}`,
  check: (input) => checkErrors(input, false),
  unit: 'Errors',
});

export const hostErrors = defineCondition({
  ...inWindow,
  name: 'errors-host',
  label: 'Errors of an origin host',
  words: /\bhosts?\b/iu,
  target: 'hosts',
  threshold: moreThan('errors of one host', 50, {
    least: 0,
    hint: `Of all zones with that origin. ${withoutTarget}`,
  }),
  describe: ({ threshold, window }) =>
    `more than ${formatCount(threshold, 'error')} of an origin host in ${formatDuration(window * minuteMs)}`,
  check: (input) => checkErrors(input, true),
  unit: 'Errors of the worst host',
  next: (part) => ({ label: 'Show errors', command: part ? `zones origin:${part.id}` : 'errors' }),
});

/** When each zone was read last, epoch ms: codes noticed later are new. */
interface CodeMemory {
  readonly zones: Readonly<Record<string, number>>;
}

const mostRemembered = 100;

/** Codes noticed since their zone was read last; a zone that is read for the first time has none. */
function findNewCodes(read: readonly ReadZone[], memory: CodeMemory | undefined) {
  const before = memory?.zones ?? {};
  const found = read.map((zone) => {
    const last = before[zone.id];
    const codes = [...zone.counts.noticed].flatMap(([code, noticed]) =>
      last !== undefined && noticed > last && code !== '' ? [code] : [],
    );
    return { zone, codes, isLearning: last === undefined };
  });
  const asOf = read.map(({ id, counts }): [string, number] => [id, counts.asOf.getTime()]);
  const zones = rank(new Map([...Object.entries(before), ...asOf])).slice(0, mostRemembered);
  return { found, memory: { zones: Object.fromEntries(zones) } };
}

export const newCodes = defineCondition({
  ...ofLogs,
  name: 'errors-new-code',
  label: 'New code of origin errors',
  words: /\bcodes?\b/iu,
  target: 'origins',
  damping: { open: [1, 1], close: 2 },
  isEvent: true,
  describe: () => 'an error code that a zone has not had for 28 days',
  async check(input: CheckInput<CodeMemory>) {
    const facts = await readLogs(input);
    const { found, memory } = findNewCodes(facts.read, input.memory);
    const judged = found.flatMap(({ zone: { id, name, counts }, codes }) =>
      codes.map((code) => {
        const value = counts.sum(counts.since).codes.get(code) ?? 0;
        const many = value > 0 ? `, ${pluralize(value, 'error')} when found` : '';
        const is = `new code ${truncate(code, 60)}${many}`;
        return { id: `${id}/${code}`, name, is, wrongIf: 'a new code', isWrong: true, value };
      }),
    );
    return observe<CodeMemory>(judged, {
      memory,
      notes: [
        ...explainUnread(facts),
        ...found.map(({ zone, isLearning }) =>
          toFact(zone.name, `${isLearning ? 'learning: ' : ''}knows ${listCodes(zone)}`),
        ),
      ],
    });
  },
});

function listCodes({ counts }: ReadZone): string {
  const codes = [...counts.noticed.keys()].filter((code) => code !== '');
  const names = codes.map((code) => truncate(code, 30));
  const counted = pluralize(codes.length, 'code');
  return codes.length === 0 ? counted : `${counted}: ${listSome(names, 5)}`;
}

/** Days of which the median is usual; with fewer than the least nothing is. */
const usualDays = 7;
const leastDays = 3;
/** Errors in a window that count as usual at least, so that three in place of one are no incident. */
const leastUsual = 10;

export const risingErrors = defineCondition({
  ...ofLogs,
  name: 'errors-rise',
  label: 'More origin errors than usual',
  words: /\brises?\b|\busual\b|\bspikes?\b|baseline/iu,
  target: 'origins',
  threshold: {
    label: 'At least',
    unit: '% of what is usual',
    initial: 300,
    least: 150,
    most: 10_000,
    hint: 'Usual is the median of the last 7 days at the same time, at least 10 errors. Learning takes 3 days.',
  },
  window: { initial: 30 },
  damping: { open: [2, 3], close: 3 },
  describe: ({ threshold, window }) =>
    `${formatInteger(threshold)}% of the usual origin errors in ${formatDuration(window * minuteMs)}`,
  async check(input) {
    const facts = await readLogs(input);
    const { read, failures } = facts;
    const notes = explainUnread(facts);
    const judged = read.map((zone) => judgeRise(zone, input)).toSorted((a, b) => b.share - a.share);
    const room = judged.some(({ isWrong }) => isWrong) ? Number.POSITIVE_INFINITY : leastUsual;
    return observe(judged, {
      value: judged.find(({ isWrong }) => isWrong !== undefined)?.share,
      unread: failures.map(({ item }) => item.id),
      isUnlisted: (id) => facts.isCut && !read.some((zone) => zone.id === id),
      isGone: facts.isGone,
      notes: [...explainUncounted(read, input, room), ...notes],
    });
  },
  formatValue: (share) => `${formatInteger(share)}% of usual`,
  unit: '% of usual',
});

/** `share`: per cent of what is usual. It is not judged while it learns what is. */
function judgeRise(zone: ReadZone, input: CheckInput): Judged & { readonly share: number } {
  const { id, name, counts } = zone;
  const { now, window, threshold } = input;
  const { total, undated, hasMore, count, text } = sumWindow([zone], input);
  // At the same time of earlier days, of those that are known whole.
  const past = Array.from({ length: usualDays }, (_, nth) => now.getTime() - (nth + 1) * dayMs)
    .map((end) => counts.sum(end - window * minuteMs, end))
    .flatMap((sum) => (sum.partial ? [] : [sum.total]));
  const middle = median(past);
  const usual = Math.max(leastUsual, middle);
  const share = Math.floor((total / usual) * 100);
  const about = { id, name, share, value: total };
  if (past.length < leastDays)
    return {
      ...about,
      is: `${count}; learning: ${countOf(past.length, leastDays, 'day')}`,
      isWrong: undefined,
    };
  const least = Math.ceil((usual * threshold) / 100);
  return {
    ...about,
    is: `${text}, usual: ${formatInteger(Math.round(middle))}`,
    wrongIf: `${formatInteger(least)} or more: ${formatInteger(threshold)}% of ${formatInteger(Math.round(usual))}`,
    isWrong: total >= least || (hasMore || total + undated >= least ? undefined : false),
  };
}

/** Of an even number of values the mean of the two in the middle; 0 of none. */
function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}

/** A digest reads no further log after this. */
const patienceMs = 90_000;
const mostDays = 7;
const mostCodes = 12;
const mostNewCodes = 10;

interface PastErrors {
  readonly scope: string;
  /** Undefined where not all could be counted: nothing is compared with a part. */
  readonly perDay?: Comparison | undefined;
  readonly zones: readonly { readonly id: string; readonly perDay: Comparison }[];
}

export const errorsDigest: DigestKind<'errors', PastErrors, CodeMemory> = {
  name: 'errors',
  label: 'Origin errors',
  words: originErrors.words,
  target: 'zones',
  troubles: 'origin errors',
  collect: collectErrors,
  // New codes are still to be reported; the codes of further zones are known from now on.
  keepUnreported: (told, found) => ({ zones: { ...found.zones, ...told.zones } }),
};

async function collectErrors(
  input: CollectInput<PastErrors, CodeMemory>,
): Promise<CollectResult<PastErrors, CodeMemory>> {
  const { now, account, targets, baseline } = input;
  const scope = targets.zones.toSorted().join(' ');
  const past = findEarlier(input, (errors) => (errors.scope === scope ? errors : undefined));
  const dayAgo = now.getTime() - dayMs;
  // The previous run, at most seven days ago; a day in the first run.
  const from = past.base ? Math.max(past.base.at, now.getTime() - mostDays * dayMs) : dayAgo;
  const begun = performance.now();
  const assertTime = (): void => {
    if (performance.now() - begun >= patienceMs) throw new UserError('There was no time left to check it.');
  };
  const logs = await readLogs({ account, targets: targets.zones }, { since: from, assertTime });
  const failures = logs.failures.map(({ item, reason }) => ({ what: item.name, reason }));
  if (logs.read.length === 0 && failures.length > 0) return { failures };
  const compare = (count: number, find: (found: PastErrors) => Comparison | undefined): Comparison =>
    past.compare(Math.round((count / ((now.getTime() - from) / dayMs)) * 10) / 10, find);
  const codes = new Map<string, number>();
  const zones = logs.read
    .map(({ counts, id, name }) => {
      const sum = counts.sum(from);
      addCounts(codes, sum.codes);
      const [[mostly] = ['']] = rank(sum.codes);
      const perDay = compare(sum.total, (found) => found.zones.find((zone) => zone.id === id)?.perDay);
      return { ...sum, ...toNamed({ id, name: name === `zone ${id}` ? '' : name }), mostly, perDay };
    })
    .toSorted((a, b) => b.total - a.total);
  const total = zones.reduce((sum, zone) => sum + zone.total, 0);
  // Without a time they may be of these days or not: never "none".
  const undated = zones.reduce((sum, zone) => sum + zone.undated, 0);
  const perDay = compare(total, (found) => found.perDay);
  // Of what was not counted nobody knows that it became less.
  const isWhole =
    undated === 0 &&
    zones.length === logs.asked &&
    zones.length >= (past.base?.figures.zones.length ?? 0) &&
    !zones.some(({ partial }) => partial);
  const isSure = isWhole || isIncrease(perDay);
  const isUnknown = total === 0 && (undated > 0 || zones.some(({ partial }) => partial));
  const { found, memory } = findNewCodes(logs.read, baseline);
  const section = {
    troubles: total + undated,
    since: [past.since],
    findings: [
      ...describeNewCodes(found),
      ...zones.flatMap((zone) => describeMove(zone, undated)),
      // Where nobody knows whether there were any, nobody knows that nothing changed.
      ...((isSure && hasMoved(perDay, noise.errors)) || isUnknown ? [{ weight: 7 }] : []),
    ],
    number: describeTotal(
      logs,
      zones,
      { total, undated, since: past.since === undefined ? undefined : from },
      input.timeZone,
    ),
    compared: isSure ? describeRate(perDay, formatNumber, 'a day') : '',
    detail: {
      ...describeDetail(logs, zones, { codes, undated }),
      chart: {
        title: pluralize(total, 'origin error'),
        unit: 'Errors per day',
        series: [
          { name: 'Errors', points: past.trend(isWhole ? perDay : undefined, (found) => found.perDay) },
        ],
      },
    },
  };
  const counted = zones.filter((zone) => zone.undated === 0 && !zone.partial);
  const figures = {
    scope,
    perDay: isWhole ? perDay : undefined,
    zones: counted.map(({ id, perDay }) => ({ id, perDay })),
  };
  return { section, figures, baseline: memory, failures };
}

type CountedZone = Named & { readonly perDay: Comparison; readonly mostly: string } & Pick<
    ReturnType<ErrorCounts['sum']>,
    'total' | 'partial'
  >;

function describeNewCodes(found: ReturnType<typeof findNewCodes>['found']): Finding[] {
  return found
    .flatMap(({ zone, codes }) => {
      const sums = zone.counts.sum(zone.counts.since).codes;
      return codes.map((code) => ({ zone, code: flattenName(code), count: sums.get(code) ?? 0 }));
    })
    .toSorted((a, b) => b.count - a.count)
    .slice(0, mostNewCodes)
    .map(({ zone, code, count }) => {
      const times = count > 0 ? ` ${pluralize(count, 'time')}` : '';
      return { weight: 2, text: `:new: ${formatCode(code, 60)}${times} in ${describeName(toNamed(zone))}` };
    });
}

function describeMove({ perDay, partial, ...zone }: CountedZone, undated: number): Finding[] {
  // Of what was not counted nobody knows that it became less.
  const isUnsure = !isIncrease(perDay) && (partial || undated > 0);
  if (isUnsure || !hasMoved(perDay, noise.errors)) return [];
  const name = `*${describeName(zone)}*`;
  if (perDay.now === 0) return [{ weight: 3, text: `:white_check_mark: ${name}: no more errors` }];
  const sign = isIncrease(perDay) ? ':boom:' : ':arrow_down:';
  return [
    { weight: 3, text: `${sign} ${name}: ${describeComparison(perDay, formatNumber, ' errors a day')}` },
  ];
}

function describeTotal(
  { asked, of }: ErrorLogs,
  zones: readonly CountedZone[],
  counted: { readonly total: number; readonly undated: number; readonly since: number | undefined },
  timeZone: string,
): string {
  const { total, undated, since } = counted;
  const read = zones.length;
  const isPartial = zones.some(({ partial }) => partial);
  const least = total > 0 && (read < asked || isPartial) ? 'At least ' : '';
  // Where the CDN holds more than it returned, there may be some.
  const seen = read < of ? ' seen' : '';
  const none = isPartial ? 'Unknown whether there were origin errors' : `No origin errors${seen}`;
  const what = total === 0 ? none : pluralize(total, 'origin error');
  const unknown = total === 0 && undated > 0;
  const said = unknown ? `${pluralize(undated, 'origin error')} at an unknown time` : what;
  const when = since === undefined ? 'in 24 hours' : `since ${formatRunTime(new Date(since), timeZone)}`;
  return [
    `*${least}${said}* ${when}`,
    total > 0 && of !== 1
      ? `, in ${countOf(zones.filter((zone) => zone.total > 0).length, read, 'zone')}`
      : '',
    total > 0 && undated > 0 ? ` (and ${formatInteger(undated)} at an unknown time)` : '',
    read < asked ? ` (${countOf(read, asked, 'log')} read)` : '',
    asked < of ? ` · ${countOf(of - asked, of, 'zone')} not checked` : '',
  ].join('');
}

function describeDetail(
  { asked, of }: ErrorLogs,
  zones: readonly CountedZone[],
  { codes, undated }: { readonly codes: ReadonlyMap<string, number>; readonly undated: number },
): Detail {
  const partial = zones.filter((zone) => zone.partial).map((zone) => describeName(zone));
  const logs = `Checked: ${countOf(asked, of, 'zone')}, those with recent errors first. `;
  // `dns_lookup 61, http_timeout 20`
  const counts = rank(codes)
    .slice(0, mostCodes)
    .map(
      ([code, count]) => `${code ? formatCode(flattenName(code), 60) : 'no code'} ${formatInteger(count)}`,
    );
  return {
    lines: [
      counts.length > 0 && `By error: ${truncateLines(counts, 1000, ', ')}`,
      undated > 0 && `${pluralize(undated, 'error')} without a readable time`,
      partial.length > 0 && `The CDN holds more than it returned: ${truncateLines(partial, 1000, ', ')}`,
    ],
    table: {
      caption: 'Zones with most errors',
      columns: ['Zone', 'Errors', 'Mostly'],
      rows: zones
        .filter(({ total }) => total > 0)
        .map(({ id, name, total, mostly }) => [
          name || `zone ${id}`,
          { number: total, text: formatInteger(total) },
          flattenName(mostly) || 'no code',
        ]),
    },
    note: `${asked < of ? logs : ''}\`/cdn errors &lt;zone&gt;\` shows samples.`,
  };
}
