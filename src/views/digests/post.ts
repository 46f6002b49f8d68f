import type { KnownBlock } from '@slack/types';
import { isFirstRun, isQuiet, listFindings, listReported, listSince } from '../../digests/findings.ts';
import { type NumberLine, targetTypes } from '../../digests/kinds/kind.ts';
import { findDigestKind } from '../../digests/kinds/list.ts';
import type { Collected, DigestSubject, UnreadPart } from '../../digests/model.ts';
import { context, message, section } from '../blocks/blocks.ts';
import type { Message } from '../blocks/message.ts';
import { escapeMrkdwn, formatInteger, sanitizeMrkdwn, truncate, truncateLines } from '../blocks/text.ts';
import { formatRunTime } from './schedule.ts';

export interface RenderedDigest {
  /** A few lines for the channel; its frame (buttons, late, skipped) comes on top. */
  readonly top: Message;
  /** The detail, in its thread, in order. A file of a message in here is a chart, never bytes. */
  readonly thread: readonly Message[];
  /** Its threshold asks for silence: nothing is posted. A preview is shown all the same. */
  readonly quiet: boolean;
}

/** As many lines fit on a phone. */
const mostLines = 6;
/** Names in one of them. */
const mostNames = 3;
const longestLine = 220;

/** Pure: the same for a preview and for a run. */
export function renderDigest(collected: Collected, subject: DigestSubject): RenderedDigest {
  const { timeZone } = subject;
  const { unread } = collected;
  const reported = listReported(collected);
  const numbers = reported.map(({ kind, figures }) => kind.renderLine(figures, timeZone));
  const findings = listFindings(reported);
  const isFirst = isFirstRun(collected);
  const quiet = isQuiet(collected, subject);
  // Above a number people want to see what it is made of, new or not.
  const isAbove = typeof subject.only === 'object' && !quiet;
  const isUnchanged = findings.length === 0 && unread.length === 0 && !isFirst && !isAbove;
  // The line of a zone that makes up the whole total says the same as the total's.
  const hidesTotals = findings.some(({ isWholeTotal }) => isWholeTotal);
  const changes = findings.flatMap(({ line }) => line?.(mostNames) ?? []);
  const lines = isUnchanged
    ? [renderUnchanged(collected, numbers, timeZone)]
    : renderTop(hidesTotals ? numbers.map((one) => ({ ...one, compared: '' })) : numbers, changes, unread);
  const blocks: KnownBlock[] = [
    section(truncateLines(lines, 2800)),
    ...(isFirst ? [context('The first run: the next one tells what changed.')] : []),
  ];
  const detail = reported.flatMap(({ kind, figures }) => {
    const changed = listFindings([{ kind, figures }]).filter(({ line }) => line !== undefined);
    return kind.renderThread(figures, changed, timeZone) ?? [];
  });
  return {
    top: message(truncateLines(lines, 2800), blocks),
    thread: isUnchanged ? [] : [...detail, ...renderUnread(unread)],
    quiet,
  };
}

function renderUnchanged(collected: Collected, numbers: readonly NumberLine[], timeZone: string): string {
  const [since] = listSince(collected)
    .filter((at) => at !== undefined)
    .toSorted();
  const when = since === undefined ? '' : ` since ${formatRunTime(new Date(since), timeZone)}`;
  const what = numbers.map(({ number }) => number).join(' · ');
  return what ? `:zzz: Nothing changed${when}: ${what}` : 'Nothing to report.';
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
  return [
    ...numbers.map(({ number }) => number),
    ...ownLine,
    ...shown.map((line) => shortenLine(line)),
    ...(more > 0 ? [`and ${formatInteger(more)} more in the thread`] : []),
    ...missing,
  ];
}

function renderUnreadLine(unread: readonly UnreadPart[]): string {
  const [one] = unread;
  const all = unread.reduce((sum, { more }) => sum + 1 + more, 0);
  const references = unread.flatMap(({ reference }) => (reference ? [escapeMrkdwn(reference, 20)] : []));
  const what = all === 1 && one ? nameUnread(one) : `${formatInteger(all)} parts`;
  const reference = references[0] ? ` (reference ${references[0]})` : '';
  return `:grey_question: Not read: ${what}${reference}, more in the thread`;
}

function renderUnread(unread: readonly UnreadPart[]): Message[] {
  if (unread.length === 0) return [];
  const lines = unread.map((one) => {
    const reference = one.reference ? ` Reference ${escapeMrkdwn(one.reference, 20)}` : '';
    const more = one.more > 0 ? ` So could ${formatInteger(one.more)} more.` : '';
    return `• ${nameUnread(one)}: ${sanitizeMrkdwn(one.message)}${reference}${more}`;
  });
  const text = truncateLines(['*What could not be read*', ...lines], 2900);
  return [message(text, [section(text)])];
}

function nameUnread({ kind: name, what }: UnreadPart): string {
  const { label, target } = findDigestKind(name);
  if (what === undefined) return label.toLowerCase();
  const noun = target === 'zones' ? '' : `${targetTypes[target].noun.toLowerCase()} `;
  return `${label.toLowerCase()} of ${noun}${escapeMrkdwn(what, 60)}`;
}

/** Truncated where a phone would start a fourth line, never inside an escape. */
function shortenLine(line: string): string {
  return line.length <= longestLine ? line : truncate(line, longestLine).replace(/&[a-z]*…$/u, '…');
}
