import type { Button, KnownBlock } from '@slack/types';
import type { ExportSummary } from '../../commands/exports/model.ts';
import type { EventSummary } from '../../commands/exports/stats/summary.ts';
import { actions, context, type Message, message, say, section } from '../blocks/blocks.ts';
import { button } from '../blocks/buttons.ts';
import { type Failure, renderFailure } from '../blocks/failure.ts';
import { formatBytes, formatInteger, formatShortMoments, formatSpan, pluralize } from '../blocks/format.ts';
import { escapeMrkdwn, join, unbold } from '../blocks/text.ts';
import { describeFilters, describeWindow } from './exports.ts';
import { renderEventChart } from './report.ts';

interface Done {
  /** 0: no event matched. */
  readonly files: number;
  readonly summary?: EventSummary | undefined;
  readonly told?: NotifiedWhere;
}

/** The place of the outcome: the export's message, or a direct message if that is gone. */
export type NotifiedWhere = 'there' | 'directly';

export function renderDone(one: ExportSummary, { files, summary, told = 'there' }: Done): Message {
  if (files === 0) {
    const text = `No event of ${zoneOf(one)} matches, so there is no file.`;
    const again = actions(offerButton(one, { ...one.request, change: true }));
    return message(text, [section(`:white_check_mark: ${text}`), renderAskedBy(one), again]);
  }
  const { query, filters, from, to } = one.request;
  const text = `*${pluralize(one.rows, 'event')}* of ${zoneOf(one)}, ${formatSpan(from, to)} · ${formatBytes(one.bytes)}`;
  const where = told === 'there' ? 'below' : placeInWords(one);
  return message(unbold(text), [
    section([`:white_check_mark: ${text}`, summary && describeEvents(summary)]),
    ...(summary ? renderEventChart(summary, one.rows) : []),
    context([
      `For <@${one.userId}>`,
      (query !== '' || filters.length > 0) && describeFilters(query, filters),
      files === 1 ? `the file is ${where}` : `the ${files} files are ${where}`,
    ]),
  ]);
}

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
  return context(`Asked by <@${one.userId}>. ${describeWindow(one)}`);
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
  const who = by === 'system' ? 'It ended with the key or the person it ran for.' : `Cancelled by <@${by}>.`;
  const text = `The export of ${zoneOf(one)} was stopped; nothing was posted.`;
  return message(text, [section(`:no_entry_sign: ${text}`), context(`${who} ${describeWindow(one)}`)]);
}

/** The first message may not have arrived. */
export function renderNotBegun(one: ExportSummary): Message {
  const text = `Your export of ${zoneOf(one)} did not begin: Slack did not say whether its message arrived.`;
  return message(text, [
    section(`:warning: ${text}\nFill in the form again; a message that still says it is under way is wrong.`),
    context(describeWindow(one)),
    actions(offerButton(one, one.request, 0, 'Export again')),
  ]);
}

/** Slack was asked to show the files; whether it did is unknown. */
export function renderUnknown(one: ExportSummary, told: NotifiedWhere = 'there'): Message {
  const where = told === 'there' ? 'below' : placeInWords(one);
  const text = `The files of this export *may have been posted*: the bot or Slack broke off at that very moment.`;
  return message(`The export of shield zone ${one.request.shieldZoneId} may have been posted`, [
    section(
      `:grey_question: ${text}\nLook ${where} for files of ${zoneOf(one)}. It is not tried again by itself, so that nothing is posted twice.`,
    ),
    renderAskedBy(one),
    actions(offerButton(one, one.request, 0, 'Not there: export again')),
  ]);
}

/** A next step after a failure: the same export with another window, or split. */
export interface Offer {
  readonly from: Date;
  readonly to: Date;
  readonly split: boolean;
  /** Opens the filled form first. */
  readonly change?: true | undefined;
}

// Four smaller windows, split, and the form.
const mostOffers = 6;
// Slack's desktop client hides what is beyond five.
const inRow = 5;

/** The export failed. `offers` are its buttons. */
export function renderFailed(one: ExportSummary, failed: Failure, offers: readonly Offer[]): Message {
  const told = renderFailure(failed);
  const buttons = offers.slice(0, mostOffers).map((offer, nth) => offerButton(one, offer, nth));
  return message(told.text, [
    section(`*The export of ${zoneOf(one)} did not work; nothing was posted.*`),
    ...(told.blocks ?? []),
    renderAskedBy(one),
    actions(...buttons.slice(0, inRow)),
    actions(...buttons.slice(inRow)),
  ]);
}

function offerButton(one: ExportSummary, offer: Offer, nth = 0, label = labelOf(one, offer)): Button {
  const { from, to, split, change } = offer;
  const value = [one.id, from.getTime(), to.getTime(), split ? 'split' : 'whole'].join('|');
  return button(label, `event-logs:${change ? 'change' : 'again'}:${nth}`, value);
}

function labelOf({ request }: ExportSummary, offer: Offer): string {
  if (offer.change) return 'Change and export again';
  if (offer.from.getTime() === request.from.getTime() && offer.to.getTime() === request.to.getTime()) {
    return offer.split && !request.split ? 'Split into several files' : 'Export again';
  }
  const [from = '', to = ''] = formatShortMoments([offer.from.getTime(), offer.to.getTime()]);
  return `${from}–${to} UTC`;
}

const endWords = {
  done: 'is done; its files are there',
  unknown: 'ended, and its files may have been posted',
  cancelled: 'was stopped; nothing was posted',
  failed: 'did not work; nothing was posted',
  'not-begun': 'did not begin; nothing was posted',
} as const;

/** The outcome without the request: the usual message would hold a live secret. */
export function renderBlocked(one: ExportSummary, end: keyof typeof endWords, reference?: string): Message {
  const told = renderFailure({
    message: `An export by <@${one.userId}> ${endWords[end]}. The rest of this message was held back: it would have shown a secret.`,
    hint: 'Tell whoever runs this bot the reference below.',
    reference,
  });
  return message(told.text, told.blocks ?? []);
}
