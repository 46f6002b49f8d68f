import type { KnownBlock } from '@slack/types';
import { findFindings, isFirstRun, isQuiet } from '../../digests/figures/findings.ts';
import type { Collected, DigestKind, DigestSubject, Unread } from '../../digests/model.ts';
import { context, message, section } from '../blocks/blocks.ts';
import type { Message } from '../blocks/message.ts';
import { escapeMrkdwn, formatInteger, sanitizeMrkdwn, truncate, truncateLines } from '../blocks/text.ts';
import { renderFinding } from './findings.ts';
import { numberLines } from './lines.ts';
import { runWords } from './schedule.ts';
import { renderThread } from './thread.ts';

/** What a digest says. */
export interface RenderedDigest {
  /** A few lines for the channel, at most 40 blocks: what frames it (buttons, late, skipped) comes on top. */
  readonly top: Message;
  /** The detail, in its thread, in order. A chart is a file of a message in here: `{ chart }` only, no bytes. */
  readonly thread: readonly Message[];
  /** Its threshold asks for silence: nothing is posted. A preview is shown all the same. */
  readonly quiet: boolean;
}

/** As many lines can be read on a phone at a glance. */
const mostLines = 6;
/** As many names in one of them. */
const mostNames = 3;
const longestLine = 220;

/** Draws what was collected. Pure: the same for a preview and for a run. */
export function renderDigest(
  collected: Collected,
  about: { readonly subject: DigestSubject; readonly now: Date },
): RenderedDigest {
  const { subject } = about;
  const { unread } = collected;
  const numbers = numberLines(collected, subject.timeZone);
  const changes = findFindings(collected);
  const first = isFirstRun(collected);
  const quiet = isQuiet(collected, subject);
  // Above a number people want to see what it is made of, new or not.
  const isAbove = typeof subject.only === 'object' && !quiet;
  const isSame = changes.length === 0 && unread.length === 0 && !first && !isAbove;
  // Where one zone does it all, what all together do is the same once more.
  const oneDoesAll = changes.some(
    (finding) =>
      (finding.kind === 'traffic' && finding.perDay.now === collected.zones?.perDay?.now) ||
      (finding.kind === 'errors' && finding.perDay.now === collected.errors?.perDay.now) ||
      (finding.kind === 'blocked' && collected.scanning?.length === 1),
  );
  const lines = isSame
    ? [unchanged(collected, subject.timeZone)]
    : topLines(
        oneDoesAll ? numbers.map(({ number }) => ({ number, compared: '' })) : numbers,
        changes.flatMap((finding) => renderFinding(finding, mostNames) ?? []),
        unread,
      );
  const blocks: KnownBlock[] = [
    section(truncateLines(lines, 2800)),
    ...(first ? [context('The first run: the next one tells what changed.')] : []),
  ];
  return {
    top: message(truncateLines(lines, 2800), blocks),
    thread: isSame ? [] : [...renderThread(collected, subject.timeZone), ...unreadDetail(unread)],
    quiet,
  };

  function unchanged({ zones, errors, scanning = [], apps }: Collected, timeZone: string): string {
    const sinces = [zones, errors, ...scanning, ...(apps?.apps ?? [])].flatMap((part) => part?.since ?? []);
    const [since] = sinces.toSorted();
    const when = since === undefined ? '' : ` since ${runWords(new Date(since), timeZone)}`;
    const what = numbers.map(({ number }) => number).join(' · ');
    return what ? `:zzz: Nothing changed${when}: ${what}` : 'Nothing to tell.';
  }
}

/** Numbers, then what changed, then what is not known; what does not fit is counted, and stands in the thread. */
function topLines(
  numbers: readonly { readonly number: string; readonly compared: string }[],
  changes: readonly string[],
  unread: readonly Unread[],
): string[] {
  const missing = unread.length > 0 ? [unreadLine(unread)] : [];
  const room = mostLines - numbers.length - missing.length;
  // What everything together does is worth a line of its own only where there is one.
  const compared = numbers.map((one) => one.compared).filter(Boolean);
  const ownLine = numbers.length === 1 ? compared.slice(0, Math.min(1, room)) : [];
  const left = room - ownLine.length;
  const shown = changes.length > left ? changes.slice(0, Math.max(0, left - 1)) : changes;
  const more = changes.length - shown.length;
  return [
    ...numbers.map(({ number }) => number),
    ...ownLine,
    ...shown.map((line) => shortened(line)),
    ...(more > 0 ? [`and ${formatInteger(more)} more in the thread`] : []),
    ...missing,
  ];
}

function unreadLine(unread: readonly Unread[]): string {
  const [one] = unread;
  const all = unread.reduce((sum, { more }) => sum + 1 + more, 0);
  const references = unread.flatMap(({ reference }) => (reference ? [escapeMrkdwn(reference, 20)] : []));
  const what = all === 1 && one ? subjectOf(one) : `${formatInteger(all)} parts`;
  const reference = references[0] ? ` (reference ${references[0]})` : '';
  return `:grey_question: Not read: ${what}${reference}, more in the thread`;
}

function unreadDetail(unread: readonly Unread[]): Message[] {
  if (unread.length === 0) return [];
  const lines = unread.map((one) => {
    const reference = one.reference ? ` Reference ${escapeMrkdwn(one.reference, 20)}` : '';
    const more = one.more > 0 ? ` So could ${formatInteger(one.more)} more.` : '';
    return `• ${subjectOf(one)}: ${sanitizeMrkdwn(one.message)}${reference}${more}`;
  });
  const text = truncateLines(['*What could not be read*', ...lines], 2900);
  return [message(text, [section(text)])];
}

const kindNames: Readonly<Record<DigestKind, string>> = {
  zones: 'zones',
  errors: 'origin errors',
  scanning: 'upload scanning',
  apps: 'app usage',
};

function subjectOf({ kind, what }: Unread): string {
  if (what === undefined) return kindNames[kind];
  const noun = kind === 'scanning' ? 'shield zone ' : kind === 'apps' ? 'app ' : '';
  return `${kindNames[kind]} of ${noun}${escapeMrkdwn(what, 60)}`;
}

/** Cut where a phone would draw a fourth line; never inside of what is escaped. */
function shortened(line: string): string {
  return line.length <= longestLine ? line : truncate(line, longestLine).replace(/&[a-z]*…$/u, '…');
}
