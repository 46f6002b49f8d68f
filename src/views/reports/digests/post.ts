import {
  type Detail,
  type Finding,
  type NumberLine,
  targetTypes,
} from '../../../commands/reports/digests/kinds/kind.ts';
import { digestKinds, findDigestKind } from '../../../commands/reports/digests/kinds/list.ts';
import type { Collected, DigestSubject, UnreadPart } from '../../../commands/reports/model.ts';
import { context, type Message, type MessageBlock, message, say, section } from '../../blocks/blocks.ts';
import { formatInteger } from '../../blocks/format.ts';
import { escapeMrkdwn, sanitizeMrkdwn, truncateLines, truncateMarkup, unbold } from '../../blocks/text.ts';
import { mostListed } from './names.ts';
import { formatRunTime } from './schedule.ts';

export interface RenderedDigest {
  /** A few lines for the channel; its frame (buttons, late, skipped) comes on top. */
  readonly top: Message;
  /** The detail, in its thread, in order. */
  readonly thread: readonly Message[];
  /** Its threshold asks for silence: nothing is posted. A preview is shown all the same. */
  readonly quiet: boolean;
  /** There was nothing to compare with. */
  readonly isFirst: boolean;
}

/** As many lines fit on a phone. */
const mostLines = 6;
/** Names in one of them. */
const mostNames = 3;
/** Characters that fit into three lines of a phone. */
const longestLine = 220;

/** Pure: the same for a preview and for a run. */
export function renderDigest(collected: Collected, { only, timeZone }: DigestSubject): RenderedDigest {
  const { unread } = collected;
  const reported = digestKinds.flatMap((kind) => {
    const figures = collected[kind.name];
    if (figures === undefined) return [];
    const findings = kind.listFindings(figures).toSorted((a, b) => a.weight - b.weight);
    return [{ kind, figures, findings, number: kind.renderLine(figures, timeZone) }];
  });
  // Everything that counts as a change, the most urgent first; smaller differences are noise.
  const findings = reported.flatMap((one) => one.findings).toSorted((a, b) => a.weight - b.weight);
  const since = reported.flatMap(({ kind, figures }) => kind.listSince(figures));
  const isFirst = since.length > 0 && since.every((at) => at === undefined);
  const isSame = findings.length === 0 && !isFirst;
  const troubles = reported.reduce((sum, { kind, figures }) => sum + kind.countTroubles(figures), 0);
  // Parts that could not be read are never kept quiet, nor is a first run by “only if something changed”: from then on
  // people know what silence means.
  const isBelow = typeof only === 'string' ? only !== 'always' && isSame : troubles <= only.above;
  const quiet = isBelow && unread.length === 0;
  // Above a number people want to see what it is made of, new or not.
  const isUnchanged = isSame && unread.length === 0 && (typeof only === 'string' || quiet);
  // The line of a zone that makes up the whole total says the same as the total's.
  const hidesTotals = findings.some(({ isWholeTotal }) => isWholeTotal);
  const numbers = reported.map(({ number }) => (hidesTotals ? { ...number, compared: '' } : number));
  const news = listLines(findings, mostNames);
  const heading = { number: `*New${describeSince(since, timeZone)}*`, compared: '' };
  const isOnlyNew = only === 'new' && !isFirst && news.length > 0;
  const lines = isUnchanged
    ? [renderUnchanged(numbers, since, timeZone)]
    : renderTop(isOnlyNew ? [heading] : numbers, news, unread);
  const text = truncateLines(lines, 2800);
  const details = reported.flatMap(({ kind, figures, findings }) => {
    // A first run has no changes; its unusual figures are listed in the detail.
    const changed = findings.filter(({ line, isFirst }) => line && !isFirst);
    const detail = kind.renderDetail(figures, new Set(changed.map(({ about }) => about)), timeZone);
    const urgency = findings[0]?.weight ?? Number.POSITIVE_INFINITY;
    return detail ? [{ title: kind.label, ...detail, changed, urgency }] : [];
  });
  // One chart stands in the channel: of what is most urgent.
  const [lead] = details.filter(({ chart }) => chart.length > 0).toSorted((a, b) => a.urgency - b.urgency);
  const thread = details.map((detail) => renderDetail(detail, detail === lead ? [] : detail.chart));
  return {
    top: message(unbold(text), [section(text), ...(lead && !isUnchanged ? lead.chart : [])]),
    thread: isUnchanged ? [] : [...thread, ...renderUnread(unread)],
    quiet,
    isFirst,
  };
}

function renderDetail(
  {
    title,
    changed,
    lines,
    table,
    note,
  }: Detail & { readonly title: string; readonly changed: readonly Finding[] },
  chart: readonly MessageBlock[],
): Message {
  const text = truncateLines([`*${title}*`, ...listLines(changed, mostListed), ...lines], 2900);
  return message(title, [section(text), ...table, ...chart, context(note)]);
}

function listLines(findings: readonly Finding[], most: number): string[] {
  return findings.flatMap(({ line }) => line?.(most) ?? []);
}

function renderUnchanged(
  numbers: readonly NumberLine[],
  since: readonly (string | undefined)[],
  timeZone: string,
): string {
  const what = numbers.map(({ number }) => number).join(' · ');
  return what ? `:zzz: Nothing changed${describeSince(since, timeZone)}: ${what}` : 'Nothing to report.';
}

function describeSince(since: readonly (string | undefined)[], timeZone: string): string {
  const [oldest] = since.flatMap((at) => at ?? []).toSorted();
  return oldest === undefined ? '' : ` since ${formatRunTime(new Date(oldest), timeZone)}`;
}

/** Numbers, then changes, then what could not be read. Lines that do not fit are counted; the thread has them. */
function renderTop(
  numbers: readonly NumberLine[],
  changes: readonly string[],
  unread: readonly UnreadPart[],
): string[] {
  const missing = unread.length > 0 ? [renderUnreadLine(unread)] : [];
  const room = mostLines - numbers.length - missing.length;
  // With several kinds their comparisons would take the room of what changed.
  const compared = numbers.map((one) => one.compared).filter(Boolean);
  const ownLine = numbers.length === 1 ? compared.slice(0, Math.min(1, room)) : [];
  const left = room - ownLine.length;
  const shown = changes.length > left ? changes.slice(0, Math.max(0, left - 1)) : changes;
  const more = changes.length - shown.length;
  const rest = [...(more > 0 ? [`and ${formatInteger(more)} more in the thread`] : []), ...missing];
  return [
    ...numbers.map(({ number }) => number),
    ...ownLine,
    ...shown.map((line) => truncateMarkup(line, longestLine)),
    // With every kind there is one line left for both.
    ...(left > 0 || rest.length === 0 ? rest : [rest.join(' · ')]),
  ];
}

function renderUnreadLine(unread: readonly UnreadPart[]): string {
  const [one] = unread;
  const all = unread.reduce((sum, { more }) => sum + 1 + more, 0);
  const what = all === 1 && one ? nameUnread(one) : `${formatInteger(all)} parts`;
  const reference = unread.find(({ reference }) => reference)?.reference;
  const logged = reference ? ` (reference ${escapeMrkdwn(reference, 20)})` : '';
  return `:grey_question: Not read: ${what}${logged}, more in the thread`;
}

function renderUnread(unread: readonly UnreadPart[]): Message[] {
  if (unread.length === 0) return [];
  const lines = unread.map((one) => {
    const reference = one.reference ? ` Reference ${escapeMrkdwn(one.reference, 20)}` : '';
    const more = one.more > 0 ? ` So could ${formatInteger(one.more)} more.` : '';
    return `• ${nameUnread(one)}: ${sanitizeMrkdwn(one.message)}${reference}${more}`;
  });
  const text = truncateLines(['*What could not be read*', ...lines], 2900);
  return [say(text)];
}

function nameUnread({ kind: name, what }: UnreadPart): string {
  const { label, target } = findDigestKind(name);
  if (what === undefined) return label.toLowerCase();
  const noun = target === 'zones' ? '' : `${targetTypes[target].noun.toLowerCase()} `;
  return `${label.toLowerCase()} of ${noun}${escapeMrkdwn(what, 60)}`;
}
