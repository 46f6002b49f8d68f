import type { Button, KnownBlock } from '@slack/types';
import { actions, context, type Message, message, say, section } from '../blocks/blocks.ts';
import { button } from '../blocks/buttons.ts';
import { type Failure, renderFailure } from '../blocks/failure.ts';
import { formatBytes, formatInteger, formatShortMoments, formatSpan, pluralize } from '../blocks/format.ts';
import { escapeMrkdwn, join, unbold } from '../blocks/text.ts';
import { describeFilters, describeRequest, type ExportSummary } from './exports.ts';
import { type EventSummary, renderEventChart, type UnreadReason } from './report.ts';

interface Done {
  /** 0: no event matched. */
  readonly files: number;
  readonly summary?: EventSummary | undefined;
  /** Why there is no summary. */
  readonly unread?: UnreadReason | undefined;
  readonly shownIn?: OutcomePlace;
}

/** Where the outcome is shown: in the export's message, or in a direct message if that is gone. */
export type OutcomePlace = 'message' | 'direct';

export function renderDone(
  one: ExportSummary,
  { files, summary, unread, shownIn = 'message' }: Done,
): Message {
  if (files === 0) {
    const text = `No event of ${zoneOf(one)} matches, so there is no file.`;
    const again = actions(offerButton(one, { ...one.request, change: true }));
    return message(text, [section(`:white_check_mark: ${text}`), renderAskedBy(one), again]);
  }
  const { query, filters, from, to } = one.request;
  // Without a header that is known nobody can say whether the first row is an event.
  const counted = pluralize(one.rows, unread === 'no-header' || unread === 'not-csv' ? 'row' : 'event');
  const text = `*${counted}* of ${zoneOf(one)}, ${formatSpan(from, to)} · ${formatBytes(one.bytes)}`;
  const where = shownIn === 'message' ? 'below' : placeInWords(one);
  return message(unbold(text), [
    section([
      `:white_check_mark: ${text}`,
      summary && describeEvents(summary),
      unread && unreadWords[unread],
    ]),
    ...(summary ? renderEventChart(summary, one.rows) : []),
    context([
      `For <@${one.userId}>`,
      (query !== '' || filters.length > 0) && describeFilters(query, filters),
      files === 1 ? `the file is ${where}` : `the ${files} files are ${where}`,
    ]),
  ]);
}

const unreadWords: Readonly<Record<UnreadReason, string>> = {
  large: 'No summary: the file is larger than 32 MB.',
  'no-header': 'No summary: the first row is not a header I recognize. It is counted as a row.',
  'not-csv': 'No summary: the file cannot be read as CSV.',
};

/** `70 blocked, 61 challenged · mostly BR, CN, FR` */
function describeEvents({ actions, countries }: EventSummary): string {
  const done = actions.map(([word, count]) => `${formatInteger(count)} ${escapeMrkdwn(word, 30)}`).join(', ');
  const from = countries.map(([word]) => escapeMrkdwn(word, 30)).join(', ');
  return join([done, from && `mostly ${from}`], ' · ');
}

function zoneOf({ request }: ExportSummary): string {
  return `shield zone ${escapeMrkdwn(request.shieldZoneId, 20)}`;
}

function renderAskedBy(one: ExportSummary): KnownBlock {
  return context(`Asked by <@${one.userId}>. ${describeRequest(one)}`);
}

function placeInWords({ channel }: Pick<ExportSummary, 'channel'>): string {
  return channel === undefined ? 'in your direct messages with this app' : `in <#${channel}>`;
}

/** The answer to cancelling an export that has ended. */
export function renderAlreadyEnded(one: ExportSummary): Message {
  const where = placeInWords(one);
  const ends = {
    done: one.rows > 0 ? `is done: its files are ${where}` : 'is done',
    unknown: `has ended, and its files may have been posted: look ${where}`,
    nothing: 'has ended already; nothing was posted',
  };
  const end = one.state === 'done' || one.state === 'unknown' ? one.state : 'nothing';
  return say(`This export of ${zoneOf(one)} ${ends[end]}.`);
}

export function renderCancelled(one: ExportSummary, by: string): Message {
  const who = by === 'system' ? 'Its key or its person is gone.' : `Cancelled by <@${by}>.`;
  const text = `The export of ${zoneOf(one)} was stopped; nothing was posted.`;
  return message(text, [section(`:no_entry_sign: ${text}`), context(`${who} ${describeRequest(one)}`)]);
}

/** Slack was asked to show the files and did not confirm it. */
export function renderUnknown(one: ExportSummary, shownIn: OutcomePlace = 'message'): Message {
  const where = shownIn === 'message' ? 'below' : placeInWords(one);
  const text = `The files of this export *may have been posted*: the connection to Slack broke while they were being posted.`;
  return message(`The export of shield zone ${one.request.shieldZoneId} may have been posted`, [
    section(
      `:grey_question: ${text}\nLook ${where} for files of ${zoneOf(one)}. It is not retried, so that nothing is posted twice.`,
    ),
    renderAskedBy(one),
    actions(offerButton(one, one.request, 0, 'Not there: export again')),
  ]);
}

/** A next step after a failure: the same export, maybe with another window. */
export interface Offer {
  readonly from: Date;
  readonly to: Date;
  /** Opens the filled form first. */
  readonly change?: true | undefined;
}

// Four shorter windows and the form: Slack's desktop client hides what is beyond five.
const mostOffers = 5;

/** The export failed. `offers` are its buttons. */
export function renderFailed(one: ExportSummary, failed: Failure, offers: readonly Offer[]): Message {
  const failure = renderFailure(failed);
  const buttons = offers.slice(0, mostOffers).map((offer, nth) => offerButton(one, offer, nth));
  return message(failure.text, [
    section(`*The export of ${zoneOf(one)} did not work; nothing was posted.*`),
    ...(failure.blocks ?? []),
    renderAskedBy(one),
    actions(...buttons),
  ]);
}

function offerButton(one: ExportSummary, offer: Offer, nth = 0, label = labelOf(one, offer)): Button {
  const { from, to, change } = offer;
  const value = [one.id, from.getTime(), to.getTime()].join('|');
  return button(label, `event-logs:${change ? 'change' : 'again'}:${nth}`, value);
}

function labelOf({ request }: ExportSummary, offer: Offer): string {
  if (offer.change) return 'Change and export again';
  if (offer.from.getTime() === request.from.getTime() && offer.to.getTime() === request.to.getTime())
    return 'Export again';
  const [from = '', to = ''] = formatShortMoments([offer.from.getTime(), offer.to.getTime()]);
  return `${from}–${to} UTC`;
}

const outcomeWords = {
  done: 'is done; its files are there',
  unknown: 'ended, and its files may have been posted',
  cancelled: 'was stopped; nothing was posted',
  failed: 'did not work; nothing was posted',
} as const;

/** The outcome without the request: the usual message would hold a live secret. */
export function renderBlocked(
  one: ExportSummary,
  outcome: keyof typeof outcomeWords,
  reference?: string,
): Message {
  const held = renderFailure({
    message: `An export by <@${one.userId}> ${outcomeWords[outcome]}. The rest of this message was held back: it would have shown a secret.`,
    hint: 'Tell whoever runs this bot the reference below.',
    reference,
  });
  return message(held.text, held.blocks ?? []);
}
