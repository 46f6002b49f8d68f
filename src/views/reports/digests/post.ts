import type { ActionsBlock, ContextBlock } from '@slack/types';
import {
  actions,
  context,
  type Message,
  type MessageBlock,
  message,
  say,
  section,
} from '../../blocks/blocks.ts';
import { button } from '../../blocks/buttons.ts';
import { type Chart, renderChart } from '../../blocks/chart.ts';
import { type Failure, renderFailure } from '../../blocks/failure.ts';
import { andMore, formatCount, formatInteger, pluralize } from '../../blocks/format.ts';
import { renderLines as renderRows, renderTable, type Table } from '../../blocks/table.ts';
import {
  escapeMrkdwn,
  formatCode,
  join,
  type Maybe,
  sanitizeMrkdwn,
  truncateLines,
  truncateMarkup,
  unbold,
} from '../../blocks/text.ts';
import { manageMenu } from '../card.ts';
import { type Digest, describeTargets, formatRunTime } from '../report.ts';

/** A number, and that of the same weekday a week before, or else of the previous run, where known. */
export interface Comparison {
  readonly now: number;
  readonly before?: number | undefined;
  readonly isWeekday?: boolean | undefined;
}

export type Point = readonly [at: number, value: number];

/** `name` is flattened, bounded, and may be empty. */
export type Named = { readonly id: string; readonly name: string };

type NamedGroup = { readonly count: number; readonly first: readonly Named[] };

type Format = (value: number) => string;

/** `+37% on the same weekday`, `+3% on the previous run`; empty in a first run. */
export function describeChange(
  { now, before, isWeekday }: Comparison,
  previous = 'the previous run',
): string {
  return before === undefined ? '' : `${relate(now, before)} ${isWeekday ? 'the same weekday' : previous}`;
}

export function describeComparison(compared: Comparison, format: Format, unit = '', past?: string): string {
  return `${format(compared.now)}${unit}, ${describeChange(compared, past)}`;
}

/** `52.1 GB a day: +37% on the same weekday`; empty in a first run, and where it always was zero. */
export function describeRate(
  compared: Comparison | undefined,
  format: Format,
  unit: string,
  previous?: string,
): string {
  const isZero = compared?.now === 0 && (compared.before ?? 0) === 0;
  const words = compared && !isZero ? describeChange(compared, previous) : '';
  return compared && words ? `${format(compared.now)} ${unit}: ${words}` : '';
}

/** `+37% on`, `5 × as much as`, `the same as`, `up from nothing in`. */
function relate(now: number, before: number): string {
  if (now === before) return 'the same as';
  if (before <= 0) return 'up from nothing in';
  const ratio = now / before;
  if (ratio >= 2.95) return `${formatInteger(Number(ratio.toPrecision(2)))} × as much as`;
  const by = Math.round((ratio - 1) * 100);
  if (by === 0) return 'about the same as';
  return `${by > 0 ? '+' : '−'}${formatInteger(Math.abs(by))}% on`;
}

/** ` (+$0.41)`: the increase since then; empty if nothing was added, or it is unknown. */
export function formatDifference(now: number, before: number | undefined, format: Format): string {
  const by = now - (before ?? now);
  const words = format(Math.abs(by));
  return words === format(0) ? '' : ` (${by > 0 ? '+' : '−'}${words})`;
}

export function isIncrease({ now, before = 0 }: Comparison): boolean {
  return now >= before;
}

/** Fewer runs show nothing that words do not. */
const fewestPoints = 3;

/** A line for each series, run by run; those that lack a run of the longest are left out. */
function renderTrend({ title, unit, series: all, timeZone }: Trend & { readonly timeZone: string }) {
  const [longest] = all.toSorted((a, b) => b.points.length - a.points.length);
  if (!longest || longest.points.length < fewestPoints) return [];
  const series = all
    .filter(({ points }) => longest.points.every(([at]) => points.some((one) => one[0] === at)))
    .map(({ name, points }) => ({ name, values: points.map(([, value]) => value) }));
  const labels = longest.points.map(([at]) => formatRunTime(new Date(at), timeZone).slice(4, -6));
  return renderChart({ kind: 'line', title, unit, labels, series });
}

const mostListed = 10;

export function describeName({ id, name }: Named, longest = 60): string {
  return escapeMrkdwn(name, longest) || `zone ${escapeMrkdwn(id, 20)}`;
}

/** Three names of this length fit on a phone. */
const longestListed = 24;

/** `shop, media and 12 more`; the number if no name is known. If only a few are listed, each is short. */
function listNames({ count, first }: NamedGroup, most: number): string {
  if (first.length === 0) return pluralize(count, 'zone');
  const listed = first.slice(0, most);
  const longest = most < mostListed && listed.length > 1 ? longestListed : 60;
  const names = listed.map((one) => describeName(one, longest)).join(', ');
  return join([names, andMore(count - listed.length)], ' ');
}

/** One posted subject of a digest: plain data, stored with its run. */
export interface Section {
  readonly troubles: number;
  /** When each of its parts was last reported, as ISO text; none = the first time. */
  readonly since: readonly (string | undefined)[];
  readonly findings: readonly Finding[];
  readonly number: string;
  readonly compared: string;
  readonly detail: Detail | undefined;
}

export interface Finding {
  readonly weight: number;
  /** mrkdwn. Absent where the number line says it already. */
  readonly text?: string;
  /** Listed behind the text. */
  readonly names?: NamedGroup;
}

export interface Detail {
  readonly title?: string;
  readonly lines: readonly Maybe<string>[];
  readonly table?: Table;
  readonly rows?: Pick<Table, 'rows' | 'total'>;
  readonly note: string;
  /** The channel shows the most telling chart of all sections. Days are those of `timeZone`, or of the digest. */
  readonly chart?: Trend | undefined;
}

interface Trend extends Pick<Chart, 'title' | 'unit'> {
  readonly series: readonly { readonly name: string; readonly points: readonly Point[] }[];
  readonly timeZone?: string;
}

export interface Unread {
  /** mrkdwn: `origin errors of shop` */
  readonly name: string;
  readonly message: string;
  readonly reference?: string | undefined;
}

export interface RenderedDigest {
  /** A few lines for the channel; its frame (buttons, late, skipped) comes on top. */
  readonly top: Message;
  readonly thread: readonly Message[];
  /** Its threshold asks for silence: nothing is posted. A preview is shown all the same. */
  readonly quiet: boolean;
  readonly isFirst: boolean;
}

/** As many lines fit on a phone. */
const mostLines = 6;
const mostNames = 3;
const longestLine = 220;

export function renderSections(
  all: readonly (Section & { readonly label: string })[],
  unread: readonly Unread[],
  { only, timeZone }: { readonly only: string | { readonly above: number }; readonly timeZone: string },
): RenderedDigest {
  const sections = all.map((one) => ({
    ...one,
    findings: one.findings.toSorted((a, b) => a.weight - b.weight),
  }));
  // Everything that counts as a change, the most urgent first; smaller differences are noise.
  const findings = sections.flatMap((one) => one.findings).toSorted((a, b) => a.weight - b.weight);
  const since = sections.flatMap((one) => one.since);
  const isNew = (dates: Section['since']) => dates.length > 0 && dates.every((at) => !at);
  const isFirst = isNew(since);
  const isSame = findings.length === 0 && !sections.some((one) => isNew(one.since));
  const troubles = sections.reduce((sum, one) => sum + one.troubles, 0);
  // Failures are never kept quiet, nor is a first run by “only if something changed”: then people know what silence means.
  const isBelow = typeof only === 'string' ? only !== 'always' && isSame : troubles <= only.above;
  const quiet = isBelow && unread.length === 0;
  // Above a number people want to see what it is made of, new or not.
  const isUnchanged = isSame && unread.length === 0 && (typeof only === 'string' || quiet);
  const describedSince = describeSince(since, timeZone);
  if (isUnchanged) {
    const what = sections.map(({ number }) => number).join(' · ');
    const line = what ? `:zzz: No notable change${describedSince}: ${what}` : 'Nothing to report.';
    return { top: renderLines([line]), thread: [], quiet, isFirst };
  }
  // Lines about what changed compare as well.
  const numbers = sections.map((one) =>
    one.findings.some(({ text }) => text) ? { ...one, compared: '' } : one,
  );
  // Of several subjects the first change of each comes first.
  const firsts = sections.flatMap((one) => one.findings.find(({ text }) => text) ?? []);
  const inOrder = findings.filter((one) => firsts.includes(one));
  const news = listLines([...new Set([...inOrder, ...findings])], mostNames);
  const isOnlyNew = only === 'new' && !isFirst && news.length > 0;
  const heading = isOnlyNew ? [{ number: `*New${describedSince}*`, compared: '' }] : numbers;
  const details = sections.flatMap(({ label, since, findings, detail }) => {
    const urgency = findings[0]?.weight ?? Number.POSITIVE_INFINITY;
    // A first run has no changes; its unusual figures are listed in the detail.
    const changed = since.some(Boolean) ? findings : [];
    const chart = detail?.chart ? renderTrend({ timeZone, ...detail.chart }) : [];
    return detail ? [{ title: label, ...detail, urgency, changed, chart }] : [];
  });
  const [lead] = details.filter(({ chart }) => chart.length > 0).toSorted((a, b) => a.urgency - b.urgency);
  const thread = details.map((detail) => {
    const { title, changed, lines, chart, note } = detail;
    const table = detail.table ? renderTable(detail.table) : [];
    const rows = detail.rows ? renderRows(detail.rows).picture : [];
    const text = truncateLines([`*${title}*`, ...listLines(changed, mostListed), ...lines], 2900);
    return message(title, [
      section(text),
      ...table,
      ...rows,
      ...(detail === lead ? [] : chart),
      context(note),
    ]);
  });
  return {
    top: renderLines(listTop(heading, news, unread, firsts.length), lead?.chart),
    thread: [...thread, ...renderUnread(unread)],
    quiet,
    isFirst,
  };
}

function renderLines(lines: readonly string[], chart: readonly MessageBlock[] = []): Message {
  const text = truncateLines(lines, 2800);
  return message(unbold(text), [section(text), ...chart]);
}

function listLines(findings: readonly Finding[], most: number): string[] {
  return findings.flatMap(({ text, names }) =>
    text && names ? `${text}: ${listNames(names, most)}` : (text ?? []),
  );
}

function describeSince(since: readonly (string | undefined)[], timeZone: string): string {
  const [oldest] = since.flatMap((at) => at ?? []).toSorted();
  return oldest === undefined ? '' : ` since ${formatRunTime(new Date(oldest), timeZone)}`;
}

/** Lines that do not fit are counted; the thread has them. */
function listTop(
  numbers: readonly Pick<Section, 'number' | 'compared'>[],
  changes: readonly string[],
  unread: readonly Unread[],
  least: number,
): string[] {
  const missing = unread.length > 0 ? [renderUnreadLine(unread)] : [];
  // With several sections their comparisons would take the room of what changed.
  const compared = numbers.flatMap((one) => (numbers.length === 1 && one.compared) || []);
  const room = Math.max(least, mostLines - numbers.length - compared.length - missing.length);
  const shown = changes.length > room ? changes.slice(0, Math.max(least, room - 1)) : changes;
  const more = andMore(changes.length - shown.length);
  return [
    ...numbers.map(({ number }) => number),
    ...compared,
    ...shown.map((line) => truncateMarkup(line, longestLine)),
    ...(more ? [`${more} in the thread`] : []),
    ...missing,
  ];
}

function renderUnreadLine(unread: readonly Unread[]): string {
  const [one] = unread;
  const what = unread.length === 1 && one ? one.name : formatCount(unread.length, 'part');
  const reference = unread.find(({ reference }) => reference)?.reference;
  const logged = reference ? ` (reference ${escapeMrkdwn(reference, 20)})` : '';
  return `:grey_question: Not read: ${what}${logged}, more in the thread`;
}

function renderUnread(unread: readonly Unread[]): Message[] {
  if (unread.length === 0) return [];
  const lines = unread.map(({ name, message, reference }) => {
    const logged = reference ? ` Reference ${escapeMrkdwn(reference, 20)}` : '';
    return `• ${name}: ${sanitizeMrkdwn(message)}${logged}`;
  });
  return [say(truncateLines(['*What could not be read*', ...lines], 2900))];
}

/** A post with notes about this run, its footer and buttons. `late`: when it was made, if late. */
export function renderPost(
  { top, isFirst }: Pick<RenderedDigest, 'top' | 'isFirst'>,
  digest: Digest,
  run: { readonly due: Date; readonly missed: number; readonly by_hand: string | null },
  late: Date | undefined,
): Message {
  const { due, missed, by_hand: byHand } = run;
  const time = (at: Date): string => formatRunTime(at, digest.schedule.zone);
  const notes = [
    late && `:warning: Late: due ${time(due)}, posted ${time(late)}. The bot was down or busy.`,
    missed > 0 && `:warning: Skipped while the bot was down: ${pluralize(missed, 'run')} before this one.`,
  ];
  return message(join([...notes, top.text], '\n'), [
    ...notes.map((note) => note && context(note)),
    ...(top.blocks ?? []),
    runButtons(digest),
    footer(digest, [byHand !== null && `asked for by <@${byHand}>`, isFirst && firstRun]),
  ]);
}

export function renderSkipped(digest: Digest, due: Date, missed: number): Message {
  const before = missed > 0 ? ` So were ${pluralize(missed, 'run')} before it.` : '';
  const text = `Skipped while the bot was down: the digest of ${formatRunTime(due, digest.schedule.zone)}.${before}`;
  return message(text, [section(`:zzz: ${text}`), runButtons(digest), footer(digest)]);
}

export function renderRunFailed(
  digest: Digest,
  due: Date,
  { message: what, hint, reference }: Failure,
  missed: 'made' | 'posted' | 'posted in full' | 'confirmed' = 'made',
): Message {
  const where = missed === 'made' ? '' : ` in <#${digest.channel}>`;
  const text = `The digest of ${formatRunTime(due, digest.schedule.zone)} could not be ${missed}${where}. ${what}`;
  const failed = renderFailure({ message: text, hint, reference });
  return { ...failed, blocks: [...(failed.blocks ?? []), runButtons(digest), footer(digest)] };
}

function runButtons(digest: Digest): ActionsBlock {
  return actions(button('Open with my key', 'digests:look', digest.id), manageMenu(digest));
}

const firstRun = 'first run: the next one shows what changed';

function footer(digest: Digest, facts: readonly Maybe<string>[] = []): ContextBlock {
  const { id, owner, paused, nextDue, schedule } = digest;
  const whose = describeTargets(digest.subject);
  const next =
    paused || !nextDue ? 'paused' : `next ${formatRunTime(nextDue, schedule.zone)} ${schedule.zone}`;
  return context([`Digest ${formatCode(id)} of <@${owner.userId}>`, whose, ...facts, next]);
}
