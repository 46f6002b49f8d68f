import type { Button, KnownBlock, Overflow } from '@slack/types';
import {
  actions,
  context,
  type FormResult,
  limits,
  type Message,
  message,
  say,
  section,
} from '../blocks/blocks.ts';
import {
  button,
  commandButton,
  confirmation,
  connectButton,
  overflow,
  replacingButton,
  selectOf,
} from '../blocks/buttons.ts';
import { formatCount, formatInteger, formatMoment, pluralize } from '../blocks/format.ts';
import { formResult } from '../blocks/inputs.ts';
import { listHeight, renderPage } from '../blocks/table.ts';
import { capitalize, formatCode, join, type Maybe, truncateMarkup } from '../blocks/text.ts';
import {
  type Alert,
  canBeTakenOver,
  countJudged,
  type Digest,
  describeCondition,
  describeNextRuns,
  describeOrder,
  describePause,
  describePaused,
  describeSubject,
  describeUnknown,
  formatPlace,
  formatReaders,
  formatRunTime,
  type Incident,
  isChannelReason,
  isDigest,
  type Order,
  type PauseReason,
  type Report,
} from './report.ts';

/** `Zones overview every workday at 09:00, UTC`, `more than 50 origin errors in 10 minutes in shop, every 5 minutes` */
function describeContent(report: Report): string {
  return isDigest(report) ? describeOrder(report) : describeSubject(report.subject);
}

const uncapitalize = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

const nameReport = ({ kind, id }: Report): string => `The ${kind} ${formatCode(id)}`;

function renderNext(report: Report, now: Date): KnownBlock[] {
  if (report.paused) return [];
  if (isDigest(report)) return [context(describeNextRuns(report.schedule, now))];
  const { nextDue, subject } = report;
  return [
    context(nextDue ? `Next check: ${formatRunTime(nextDue, subject.timeZone)}` : 'No check is scheduled.'),
  ];
}

type Named = Pick<Report, 'kind' | 'id'>;

const verbButton = (label: string, { kind, id }: Named): Button =>
  button(label, `${kind}s:${label.toLowerCase()}`, id);
const nowButton = ({ kind, id }: Named): Button =>
  kind === 'digest' ? button('Run now', 'digests:run', id) : button('Check now', 'alerts:check', id);

function takeOverButton({ kind, id }: Named): Button {
  const what = 'It will use your CDN key, and show this channel what your key can read.';
  const confirm = confirmation(`Take this ${kind} over?`, what, 'Take over', 'Cancel');
  return button('Take over', `${kind}s:take-over:${id}`, id, { confirm });
}

/** What owner and admins can do, and for an alert what everybody can read. */
export function manageMenu(report: Named & Pick<Report, 'paused'>): Maybe<Overflow | Button> {
  return overflow(
    report.kind === 'alert' && verbButton('Why', report),
    // A paused alert does not check; a digest that a person paused still runs by hand.
    (report.kind === 'digest' || !report.paused) && nowButton(report),
    verbButton(report.paused ? 'Resume' : 'Pause', report),
    verbButton('Edit', report),
    verbButton('Delete', report),
  );
}

/** Why it is paused and what can be done about it. `others`: other people than its owner read it. */
export function renderPaused(report: Report, { others }: { readonly others: boolean }): Message {
  const { reason, by } = report.paused ?? { reason: 'by-hand', by: undefined };
  const text = `${nameReport(report)} is ${by === undefined ? 'paused: ' : ''}${describePause(reason, by)}.`;
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

/** What became of it, and when it goes on. */
export function renderDone(
  report: Report,
  now: Date,
  done: 'resumed' | 'restored' | 'taken over' | 'undone',
): Message {
  const owner = `<@${report.owner.userId}>`;
  const content = isDigest(report)
    ? uncapitalize(describeOrder(report))
    : `to ${formatPlace(report.channel)}: ${describeSubject(report.subject)}`;
  const texts = {
    resumed: `${nameReport(report)} posts ${content}.`,
    restored: `${nameReport(report)} is back: ${describeContent(report)}.`,
    'taken over': `${owner} took over the ${report.kind} ${formatCode(report.id)}: ${describeContent(report)}. It uses their key now.`,
    undone: `Restored the previous ${report.kind}: ${describeContent(report)}.`,
  };
  return say(texts[done], ...renderNext(report, now));
}

export function renderDeleted(report: Report, minutes: number): Message {
  const undo = actions(verbButton('Undo', report));
  return say(
    `${nameReport(report)} is deleted: ${describeContent(report)}.`,
    undo,
    context(`You can undo this for ${formatCount(minutes, 'minute')}.`),
  );
}

/** `undo`: the value of its button, after an edit. */
export function renderSaved(report: Report, now: Date, undo?: string): FormResult {
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
    actions(
      nowButton(report),
      undo !== undefined && undo.length <= limits.value && button('Undo', `${kind}s:undo-edit`, undo),
    ),
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

type Flag = 'firing' | 'can’t check' | 'paused';

export interface State {
  /** mrkdwn */
  readonly text: string;
  readonly flags: readonly Flag[];
}

export interface Listed {
  readonly report: Report;
  readonly state: State;
  readonly own: boolean;
  readonly manages: boolean;
}

const nothing = {
  digest: 'No digests yet. A digest posts a summary of your CDN on a schedule.',
  alert: 'No alerts yet. An alert tells you when something starts, changes or resolves.',
} as const;

/** As many as a phone shows, the urgent first. */
export function renderList(
  kind: Report['kind'],
  rows: readonly Listed[],
  { asOf, page }: { readonly asOf: Date; readonly page?: number | undefined },
): Message {
  const create = commandButton(`New ${kind}`, `${kind} new`, 0, { style: 'primary' });
  if (rows.length === 0) return say(nothing[kind], actions(create));
  const count = (flag: Flag): number => rows.filter(({ state }) => state.flags.includes(flag)).length;
  const counts = (['firing', 'can’t check', 'paused'] as const).map(
    (flag) => count(flag) > 0 && `${formatInteger(count(flag))} ${flag}`,
  );
  const text = join([pluralize(rows.length, kind), ...counts], ', ');
  const sorted = sortRows(rows);
  const { range, pages, chosen } = renderPage(sorted.map(describeRow), {
    page,
    height: listHeight,
    turn: (label, nth) => replacingButton(label, `${kind} list ${nth}`),
  });
  return message(text, [
    section(`${count('firing') > 0 ? ':rotating_light: ' : ''}*${text}*`),
    ...sorted.slice(...range).flatMap(renderRow),
    actions(create, selectOf(chosen, pages, { chosen })),
    context(`as of ${formatMoment(asOf)}`),
  ]);
}

function sortRows(rows: readonly Listed[]): Listed[] {
  const urgency = ({ report, state: { flags } }: Listed): number =>
    flags.filter((flag) => flag !== 'paused').length * 2 + Number(canBeTakenOver(report));
  return rows.toSorted((a, b) => urgency(b) - urgency(a));
}

const mostAtHome = 5;

export function renderAtHome(kind: Report['kind'], rows: readonly Listed[]): KnownBlock[] {
  if (rows.length === 0) return [];
  const others = rows.filter(({ own }) => !own).length;
  const stopped = others > 0 ? ` · ${formatInteger(others)} owned by others stopped` : '';
  return [
    section(
      `*${capitalize(kind)}s:* ${pluralize(rows.length - others, kind)} of yours${stopped}`,
      commandButton(`All ${kind}s`, `${kind} list`),
    ),
    ...sortRows(rows).slice(0, mostAtHome).flatMap(renderRow),
  ];
}

/** What it is and how it goes; whose it is only of others. */
function describeRow({ report, state, own }: Listed): string {
  const { id, channel, owner } = report;
  const place = own && channel !== owner.userId ? formatPlace(channel) : formatReaders(channel, owner.userId);
  const what = truncateMarkup(`${formatCode(id)} ${describeContent(report)}`, 140);
  return truncateMarkup(`${what}\n${join([state.text, place], ' · ')}`, 500);
}

function renderRow(row: Listed): KnownBlock[] {
  const { report, own, manages } = row;
  const lines = section(describeRow(row));
  const takeOver = !own && canBeTakenOver(report) && takeOverButton(report);
  if (!manages) return [takeOver ? { ...lines, accessory: takeOver } : lines];
  const menu = manageMenu(report);
  return [
    { ...lines, ...(menu ? { accessory: menu } : {}) },
    // Not in the menu: its confirmation would ask for every entry.
    ...(takeOver ? [actions(takeOver)] : []),
  ];
}

/** `last`: its newest run that began. */
export function describeDigest(
  { paused, nextDue }: Digest,
  last: { readonly due: Date; readonly state: string } | undefined,
): State {
  const next = nextDue ? `next ${formatMoment(nextDue)}` : 'not scheduled';
  const ended = last && `last ${formatMoment(last.due)}: ${ends[last.state] ?? 'in progress'}`;
  const text = join([paused ? describePaused(paused) : next, last?.state !== 'sent' && ended], ' · ');
  return { text, flags: paused ? ['paused'] : [] };
}

const ends: Readonly<Record<string, string>> = {
  quiet: 'nothing to report',
  skipped: 'skipped',
  failed: 'failed',
  unknown: 'unknown whether it arrived',
};

/** `firing since Mon 23 Nov 10:02`, `can’t check since …`, `snoozed until …`, `paused`, `OK` */
export function describeAlert(
  { paused, snoozed, checkedAt, subject, state: { evidence } }: Alert,
  recent: readonly (Incident & { readonly isUntold: boolean })[],
): State {
  const [unreadable, firing] = (['unreadable', 'firing'] as const).map((kind) =>
    recent.find((one) => one.kind === kind && !one.closedAt),
  );
  const flags: readonly (Flag | false)[] = [
    firing !== undefined && 'firing',
    unreadable !== undefined && 'can’t check',
    paused !== undefined && 'paused',
  ];
  const untold = recent.some(({ isUntold }) => isUntold) && ':warning: *could not be posted*';
  const state = join(
    [
      unreadable && `:see_no_evil: can’t check since ${formatMoment(unreadable.openedAt)}`,
      firing && `:rotating_light: *firing* since ${formatMoment(firing.openedAt)}`,
      snoozed && `:zzz: snoozed until ${formatMoment(snoozed.until)}`,
      untold,
    ],
    ' · ',
  );
  const checked = checkedAt
    ? firing === undefined && `last check ${formatMoment(checkedAt)}`
    : 'not checked yet';
  const unknown = describeUnknown(evidence);
  const isJudged = subject.condition.isEvent || countJudged(evidence) > 0;
  const ok = unknown
    ? `:grey_question: ${isJudged ? 'OK as far as checked' : 'Not known yet'}: ${unknown}`
    : ':white_check_mark: OK';
  const text = paused
    ? join([describePaused(paused), untold], ' · ')
    : join([state || (checkedAt && ok), checked], ' · ');
  return { text, flags: flags.filter((flag) => flag !== false) };
}
