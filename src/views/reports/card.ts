import type { Button, KnownBlock, Overflow } from '@slack/types';
import { actions, context, type FormResult, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, confirmation, connectButton, overflow } from '../blocks/buttons.ts';
import { formatCount } from '../blocks/format.ts';
import { formResult } from '../blocks/inputs.ts';
import { capitalize, formatCode, type Maybe } from '../blocks/text.ts';
import {
  canBeTakenOver,
  isChannelReason,
  isDigest,
  type Order,
  type PauseReason,
  type Report,
} from './report.ts';
import {
  describeCondition,
  describeNextRuns,
  describeOrder,
  describePause,
  describeSubject,
  formatPlace,
  formatReaders,
  formatRunTime,
} from './words.ts';

/** `Zones overview every workday at 09:00, UTC`, `more than 50 origin errors in 10 minutes in shop, every 5 minutes` */
export function describeContent(report: Report): string {
  return isDigest(report) ? describeOrder(report) : describeSubject(report.subject);
}

const uncapitalize = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

const nameReport = ({ kind, id }: Report): string => `The ${kind} ${formatCode(id)}`;

function renderNext(report: Report, now: Date): KnownBlock[] {
  if (report.paused) return [];
  if (isDigest(report)) return [context(describeNextRuns(report.schedule, now))];
  const { nextDue, subject } = report;
  return [
    context(nextDue ? `Next check: ${formatRunTime(nextDue, subject.timeZone)}` : 'No check is planned.'),
  ];
}

type Named = Pick<Report, 'kind' | 'id'>;

const verbButton = (label: string, { kind, id }: Named): Button =>
  button(label, `${kind}s:${label.toLowerCase()}`, id);
const nowButton = ({ kind, id }: Named): Button =>
  kind === 'digest' ? button('Run now', 'digests:run', id) : button('Check now', 'alerts:check', id);

export function takeOverButton({ kind, id }: Named): Button {
  const what = 'It will use your CDN key, and show this channel what your key can read.';
  const confirm = confirmation(`Take this ${kind} over?`, what, 'Take over', 'Cancel');
  return button('Take over', `${kind}s:take-over:${id}`, id, { confirm });
}

/** What owner and admins can do, and for an alert what everybody can read. */
export function manageMenu(report: Named & Pick<Report, 'paused'>): Maybe<Overflow | Button> {
  return overflow(
    report.kind === 'alert' && verbButton('Why', report),
    nowButton(report),
    verbButton(report.paused ? 'Resume' : 'Pause', report),
    verbButton('Edit', report),
    verbButton('Delete', report),
  );
}

/** Why it is paused and what can be done about it. `others`: other people than its owner read it. */
export function renderPaused(
  report: Report,
  reason: PauseReason,
  { others }: { readonly others: boolean },
): Message {
  const text = `${nameReport(report)} is paused: ${describePause(reason)}.`;
  const about = `${capitalize(describeContent(report))}. ${formatReaders(report.channel, report.owner.userId)}`;
  const isAboutKey = reason === 'key-missing' || reason === 'key-refused';
  return message(text, [
    section(`:double_vertical_bar: *${text}*\n${about}\n${nextStep(report, reason)}`),
    actions(
      others && canBeTakenOver(report) && takeOverButton(report),
      verbButton('Resume', report),
      isAboutKey && connectButton('Connect my key'),
      verbButton('Edit', report),
      verbButton('Delete', report),
    ),
  ]);
}

function nextStep(report: Report, reason: PauseReason): string {
  if (reason === 'bot-removed')
    return 'Invite the bot there (`/invite @cdn`) and resume it, or edit it and pick another channel.';
  if (isChannelReason(reason)) return 'Edit it and pick another channel.';
  if (reason === 'owner-gone') return 'Anyone who can read here can take it over with their own key.';
  return canBeTakenOver(report)
    ? 'Its owner can fix that and resume it, or anyone who can read here can take it over with their own key.'
    : 'You can resume it.';
}

export function renderPausedByHand(report: Report): Message {
  const { paused } = report;
  const why = paused ? describePause(paused.reason, paused.by) : 'paused';
  const text = `${nameReport(report)} is ${paused?.reason === 'by-hand' ? '' : 'paused: '}${why}.`;
  return say(text, actions(verbButton('Resume', report)));
}

export function renderResumed(report: Report, now: Date): Message {
  const content = isDigest(report)
    ? uncapitalize(describeOrder(report))
    : `to ${formatPlace(report.channel)}: ${describeSubject(report.subject)}`;
  return say(`${nameReport(report)} posts ${content}.`, ...renderNext(report, now));
}

/** For its channel. */
export function renderUnchanged({ kind, id }: Report, by: string): Message {
  return say(`<@${by}> resumed the ${kind} ${formatCode(id)}: it posts here again.`);
}

export function renderTakenOver(report: Report, by: string, now: Date): Message {
  const { kind, id } = report;
  const text = `<@${by}> took over the ${kind} ${formatCode(id)}. It uses their key now.`;
  return say(text, ...renderNext(report, now));
}

/** It was taken over, and its channel still takes no message. */
export function renderTakenOverOnly(report: Report): Message {
  const text = `${nameReport(report)} is yours now, but I can't post in ${formatPlace(report.channel)}.`;
  const what = 'Invite me there (`/invite @cdn`), or edit it and pick another channel.';
  return message(text, [section(`:warning: ${text}\n${what}`), actions(verbButton('Edit', report))]);
}

export function renderDeleted(report: Report, minutes: number): Message {
  const undo = actions(verbButton('Undo', report));
  return say(
    `${nameReport(report)} is deleted.`,
    undo,
    context(`You can undo this for ${formatCount(minutes, 'minute')}.`),
  );
}

export function renderRestored(report: Report, now: Date): Message {
  return say(`${nameReport(report)} is back.`, ...renderNext(report, now));
}

/** What the form answers. */
export function renderSaved(report: Report, now: Date): FormResult {
  const { kind, id, paused, channel } = report;
  const title = capitalize(kind);
  const text = paused ? `Saved: the ${kind} ${id} stays paused.` : `Saved: ${describeContent(report)}.`;
  const next = isDigest(report)
    ? describeNextRuns(report.schedule, now)
    : report.nextDue &&
      `It posts to ${formatPlace(channel)} when this starts, changes or resolves. First check: ${formatRunTime(report.nextDue, report.subject.timeZone)}.`;
  return formResult({ title, callbackId: `${kind}s:done` }, text, [
    section(`:white_check_mark: ${text}`),
    !paused && next !== undefined && section(next),
    actions(nowButton(report)),
    context(`${title} ${formatCode(id)} · uses your key · \`/cdn ${kind} list\` shows all`),
  ]);
}

/** For the channel of a new or moved one. */
export function renderAnnouncement(id: string, order: Order, by: string): Message {
  return 'schedule' in order
    ? say(
        `<@${by}> added a digest to this channel: ${describeOrder(order)}.`,
        context(`Digest ${formatCode(id)} · shows what <@${by}>’s key can read`),
      )
    : say(
        `<@${by}> added an alert to this channel: ${describeCondition(order.subject)}.`,
        context(`Alert ${formatCode(id)} · uses the key of <@${by}> · \`/cdn alert list\``),
      );
}
