import { mentionGroup } from '../../auth/identity.ts';
import { renderAnswer } from '../blocks/answer.ts';
import {
  actions,
  context,
  type Message,
  type MessageBlock,
  message,
  say,
  section,
} from '../blocks/blocks.ts';
import { button, commandButton, selectOf } from '../blocks/buttons.ts';
import { renderChart } from '../blocks/chart.ts';
import { andMore, countOf, formatCount, formatDuration, formatInteger, pluralize } from '../blocks/format.ts';
import { renderLines } from '../blocks/table.ts';
import {
  capitalize,
  escapeMrkdwn,
  formatCode,
  join,
  type Maybe,
  sanitizeMrkdwn,
  unbold,
} from '../blocks/text.ts';
import { manageMenu } from './card.ts';
import {
  type Alert,
  type AlertCondition,
  type AlertSubject,
  countJudged,
  describeEvery,
  describeHours,
  describePause,
  describeSubject,
  describeUnknown,
  formatPlace,
  formatRunTime,
  type Incident,
  type IncidentFigures,
  isGroupId,
  type Part,
  targetNouns,
} from './report.ts';

const mostLines = 4;
const pausedWords = ':double_vertical_bar: Not checked while the alert is paused';

/** `unreadableSince`: its alert cannot check since then. */
interface Shown {
  readonly now: Date;
  readonly unreadableSince?: Date | undefined;
}

/** The current message of an incident: updated in place until it ends. */
export function renderIncident(incident: Incident, current: Alert, shown: Shown): Message {
  const alert = { ...current, subject: incident.figures.left ?? current.subject };
  return incident.kind === 'unreadable'
    ? renderUnreadable(incident, alert)
    : renderFiring(incident, alert, shown);
}

function renderFiring(incident: Incident, alert: Alert, { now, unreadableSince }: Shown): Message {
  const { figures, closedAt, acknowledged } = incident;
  const { subject, snoozed } = alert;
  const { isEvent = false } = subject.condition;
  const at = (moment: Date): string => formatRunTime(moment, subject.timeZone);
  const isOpen = closedAt === undefined;
  const isNews = isOpen || isEvent;
  // Parts that are calm fired before the last check, and do not any more.
  const firing = isEvent ? figures.parts : figures.parts.filter(({ calm }) => calm === 0);
  const count = Math.max(firing.length, (isNews && figures.firing) || 0);
  const [sign, headline] = isEvent
    ? [':pencil2:', nameParts(firing, count, subject)]
    : !isOpen
      ? [figures.left ? ':double_vertical_bar:' : ':white_check_mark:', describeEnd(incident, alert)]
      : firing.length === 0
        ? [':large_yellow_circle:', describeCalming(incident, subject)]
        : [':rotating_light:', nameParts(firing, count, subject)];
  const text = `${sign} *${headline}*`;
  const isSnoozed = isOpen && snoozed !== undefined && snoozed.until > now;
  const doubt = isEvent ? '' : ': this may be over, or worse';
  const unknown = figures.left ? '' : describeUnknown(alert.state.evidence);
  const facts = [
    `Since ${at(incident.openedAt)}`,
    `last check ${timeOf(figures.lookedAt, subject)}`,
    describeWorst(incident, subject),
  ];
  const ifOpen = [
    !isEvent && join(facts, ' · '),
    unknown && `:grey_question: Not known: ${unknown}.`,
    unreadableSince && `:see_no_evil: Not checked since ${at(unreadableSince)}${doubt}.`,
    alert.paused && `${pausedWords}${doubt}.`,
    acknowledged && `:eyes: Acknowledged by <@${acknowledged.by}> at ${at(acknowledged.at)}.`,
    isSnoozed && `:zzz: Snoozed until ${at(snoozed.until)} by <@${snoozed.by}>.`,
    !acknowledged && subject.names.map((id) => (isGroupId(id) ? mentionGroup(id) : `<@${id}>`)).join(' '),
  ];
  const next = subject.condition.next(figures.parts[0]);
  return message(unbold(text), [
    section([
      text,
      ...(firing.length > 1 && isNews ? listParts(firing, mostLines, count) : []),
      ...(isOpen ? ifOpen : []),
    ]),
    ...renderSeries(incident, subject),
    actions(
      isOpen &&
        !acknowledged &&
        button('Acknowledge', 'alerts:acknowledge', incident.id, { style: 'primary' }),
      commandButton(next.label, next.command),
      isOpen && snoozeMenu(alert, isSnoozed),
      manageMenu(alert),
    ),
    footer(alert, [at(incident.openedAt)]),
  ]);
}

const snoozes = [
  ['1 hour', 60],
  ['4 hours', 240],
  ['24 hours', 1440],
] as const;

function snoozeMenu({ id }: Alert, isSnoozed: boolean) {
  return selectOf(
    'Snooze…',
    isSnoozed
      ? [button('End snooze', 'alerts:snooze', `${id}|0`)]
      : snoozes.map(([label, minutes]) => button(label, 'alerts:snooze', `${id}|${minutes}`)),
  );
}

function renderUnreadable(
  { openedAt, closedAt, figures: { failure, left } }: Incident,
  alert: Alert,
): Message {
  const at = (moment: Date): string => formatRunTime(moment, alert.subject.timeZone);
  const text = left
    ? `Could not check since ${at(openedAt)}, then ${describeLeft(alert)}`
    : closedAt
      ? `Checking again since ${at(closedAt)}, after ${formatTime(openedAt, closedAt)}`
      : `Can’t check since ${at(openedAt)}`;
  const sign = closedAt && !left ? ':white_check_mark:' : ':see_no_evil:';
  return message(`${sign} ${text}`, [
    section([
      `${sign} *${text}*`,
      failure && `${closedAt ? 'The checks failed with: ' : ''}${sanitizeMrkdwn(failure.message)}`,
      !closedAt &&
        (alert.paused
          ? `${pausedWords}: silence does not mean OK.`
          : 'Until this works again, silence does not mean OK. The alert keeps trying, and posts when it can check again.'),
    ]),
    actions(!closedAt && !alert.paused && button('Check now', 'alerts:check', alert.id), manageMenu(alert)),
    footer(alert, [failure?.reference !== undefined && `reference ${escapeMrkdwn(failure.reference, 20)}`]),
  ]);
}

function footer({ id, owner, subject }: Alert, facts: readonly Maybe<string>[]) {
  return context([`Alert ${formatCode(id)} of <@${owner.userId}>`, describeSubject(subject), ...facts]);
}

function timeOf(at: string, { timeZone }: AlertSubject): string {
  return formatRunTime(new Date(at), timeZone).slice(-5);
}

function formatTime(from: Date, to: Date): string {
  return formatDuration(to.getTime() - from.getTime());
}

/** `shop: 502 errors in 10 minutes`, `Zone disabled, 3 zones: shop, video, api`, `Setting changed, 3 times: shop` */
function nameParts(parts: readonly Part[], count: number, subject: AlertSubject): string {
  const { isEvent, label, target } = subject.condition;
  const [first] = parts;
  if (!first) return label;
  if (parts.length === 1) return `${escapeMrkdwn(first.name, 60)}: ${escapeMrkdwn(first.text, 200)}`;
  const noun = isEvent ? 'times' : first.id.includes('/') ? 'hostnames' : targetNouns[target][1];
  return `${label}, ${formatInteger(count)} ${noun}: ${namesOf(parts, count)}`;
}

/** `Not firing at the last check (10:20), resolves after 2 more: shop` */
function describeCalming({ figures: { lookedAt, parts } }: Incident, subject: AlertSubject): string {
  const { damping } = subject.condition;
  const left = Math.max(1, damping.close - Math.min(...parts.map(({ calm }) => calm)));
  return `Not firing at the last check (${timeOf(lookedAt, subject)}), resolves after ${formatInteger(left)} more: ${namesOf(parts)}`;
}

function namesOf(parts: readonly Part[], count = parts.length): string {
  const names = [...new Set(parts.map(({ name }) => name))];
  return listNames(names, 3, count - parts.length);
}

function listNames(names: readonly string[], most = 3, others = 0): string {
  const shown = names.slice(0, most).map((name) => escapeMrkdwn(name, 60));
  return join([shown.join(', '), andMore(names.length - shown.length + others)], ' ');
}

export function listParts(parts: readonly Part[], most = mostLines, count = parts.length): string[] {
  const lines = parts
    .slice(0, most)
    .map(({ name, text }) => `• *${escapeMrkdwn(name, 60)}*: ${escapeMrkdwn(text, 200)}`);
  const more = count - lines.length;
  return more > 0 ? [...lines, andMore(more)] : lines;
}

/** Of an incident that was open then: nobody knows when it is over. */
const describeLeft = ({ deletedAt }: Alert): string => `the alert was ${deletedAt ? 'deleted' : 'changed'}`;

/** `Resolved after 23 minutes: shop · 1,204 errors, worst at 10:05: 310 errors` */
function describeEnd(incident: Incident, alert: Alert): string {
  const { openedAt, closedAt = openedAt, figures } = incident;
  const time = formatTime(openedAt, closedAt);
  const end = figures.left ? `Open for ${time}, then ${describeLeft(alert)}` : `Resolved after ${time}`;
  return `${end}: ${join([listEverything(figures), describeWorst(incident, alert.subject)], ' · ')}`;
}

/** Names are stored of fifty; equal ones once. */
function listEverything({ everything: { length }, everything, worst }: IncidentFigures): string {
  return listNames(everything, 3, length < 50 ? 0 : Math.max(0, worst.parts - length));
}

/** `1,204 errors in all, worst at 10:05: 310 errors` */
function describeWorst({ figures: { total, worst } }: Incident, subject: AlertSubject): string {
  const { formatValue = formatInteger } = subject.condition;
  const { value, parts } = worst;
  const peak = value === undefined ? parts > 1 && `${formatInteger(parts)} at once` : formatValue(value);
  return join(
    [
      total !== undefined && `${formatValue(total)} in all`,
      peak && (value === undefined || value !== total) && `worst at ${timeOf(worst.at, subject)}: ${peak}`,
    ],
    ', ',
  );
}

const fewestPoints = 3;
const mostPoints = 8;

function renderSeries({ figures }: Incident, subject: AlertSubject): MessageBlock[] {
  const { label, unit } = subject.condition;
  const series = figures.series.slice(-mostPoints);
  if (unit === undefined || series.length < fewestPoints) return [];
  // Checks some hours apart are of several days.
  const isOneDay = subject.every <= 60;
  return renderChart({
    kind: 'line',
    title: label,
    unit: `${unit}, ${subject.timeZone}`,
    labels: series.map(([at]) => formatRunTime(new Date(at), subject.timeZone).slice(isOneDay ? -5 : 4)),
    series: [{ name: label, values: series.map(([, value]) => value) }],
  });
}

export interface Change {
  readonly joined: readonly Part[];
  readonly left: readonly string[];
  readonly remaining: number;
}

export function renderChange({ joined, left, remaining }: Change, at: string, { subject }: Alert): Message {
  const { isEvent = false } = subject.condition;
  const time = timeOf(at, subject);
  const also = joined.length > 0 && `:heavy_plus_sign: ${time}${isEvent ? '' : ' also firing'}:`;
  const over =
    left.length > 0 &&
    `:white_check_mark: ${time} no longer firing: ${listNames(left, 5)} · ${formatInteger(remaining)} left`;
  // A notification has names alone: Slack takes 4,000 characters, and a sign may be written with five.
  const names = joined.map(({ name }) => name);
  const text = join([also && `${also} ${listNames(names, 5)}`, over], '\n');
  return message(text, [section([also, ...listParts(joined, 10), over])]);
}

export function renderResolved(incident: Incident, alert: Alert): Message {
  const { kind, openedAt, closedAt = openedAt } = incident;
  const text =
    kind === 'firing'
      ? describeEnd(incident, alert)
      : `It can check again, after ${formatTime(openedAt, closedAt)}.`;
  return say(`:white_check_mark: ${text}`);
}

export interface Heartbeat {
  readonly since: string;
  readonly at: string;
  /** Opened since then. */
  readonly incidents: number;
}

export function renderHeartbeat(alert: Alert, { since, at, incidents }: Heartbeat): Message {
  const time = formatTime(new Date(since), new Date(at));
  const text = `:green_heart: Still watching: ${pluralize(incidents, 'incident')} in ${time}.`;
  return say(text, actions(button('Why', 'alerts:why', alert.id)), footer(alert, []));
}

export function renderChecking({ id, channel }: Alert): Message {
  return say(
    `Checking the alert ${formatCode(id)} now. ${formatPlace(channel)} gets a message if something starts, changes or resolves.`,
    actions(button('Why', 'alerts:why', id)),
  );
}

export function renderSnoozed({ id, snoozed, subject }: Alert): Message {
  if (!snoozed) return say(`The alert ${formatCode(id)} is no longer snoozed.`);
  const until = formatRunTime(snoozed.until, subject.timeZone);
  return say(
    `The alert ${formatCode(id)} is snoozed until ${until}. It keeps checking, and then posts what is still firing.`,
    actions(button('End snooze', 'alerts:snooze', `${id}|0`)),
  );
}

/** `isNew`: nobody was faster, and it was open. */
export function renderAcknowledged(
  { id, acknowledged, closedAt }: Incident,
  { subject }: Alert,
  isNew: boolean,
): Message {
  const at = (moment: Date): string => formatRunTime(moment, subject.timeZone);
  const undo = button('Undo', 'alerts:undo-acknowledge', id);
  if (isNew) return say('Acknowledged: the incident shows your name.', actions(undo));
  if (closedAt) return say(`That was resolved at ${at(closedAt)}.`);
  if (!acknowledged) return say('Nothing was changed. Open the incident again.');
  return say(`<@${acknowledged.by}> already acknowledged it at ${at(acknowledged.at)}.`);
}

const mostIncidents = 3;
const mostEvidence = 30;

export function renderWhy(alert: Alert, incidents: readonly Incident[], asOf: Date, page?: number): Message {
  const { id, subject, owner, state, checkedAt, paused } = alert;
  const condition = subject.condition;
  const [open, unreadable] = (['firing', 'unreadable'] as const).map((kind) =>
    incidents.find((one) => one.kind === kind && !one.closedAt),
  );
  const failure = unreadable?.figures.failure;
  const headline = describeDecision(alert, open, unreadable);
  const next = condition.next(open?.figures.parts[0]);
  const rhythm = join([describeEvery(subject.every), describeHours(subject)], ', ');
  const { picture, pages, chosen } = renderLines({
    columns: ['What', 'Value', 'Fires if'],
    rows: (state.evidence ?? []).map(({ name, is, wrongIf = '–', isWrong }) => [
      `${isWrong ? '🔴 ' : ''}${name}`,
      is,
      wrongIf,
    ]),
    page,
    turn: (label, nth) => commandButton(label, `alert why ${id} ${nth}`),
  });
  const last = checkedAt && `Last check ${formatRunTime(checkedAt, subject.timeZone)}`;
  return renderAnswer({
    text: unbold(headline),
    lines: [
      headline,
      failure && sanitizeMrkdwn(failure.message),
      capitalize(join([last, rhythm, describeDamping(condition)], ' · ')),
      ...incidents.slice(0, mostIncidents).map((incident) => `• ${describeIncident(incident, alert)}`),
    ],
    picture,
    actions: [
      commandButton(next.label, next.command),
      !paused && button('Check now', 'alerts:check', id),
      button('Edit', 'alerts:edit', id),
      selectOf(chosen, pages, { chosen }),
    ],
    notes: [
      `Alert ${formatCode(id)} of <@${owner.userId}>`,
      describeSubject(subject),
      failure?.reference !== undefined && `reference ${escapeMrkdwn(failure.reference, 20)}`,
      `Times are ${subject.timeZone}`,
      `as of ${formatRunTime(asOf, subject.timeZone)}`,
    ],
  });
}

function describeDecision(
  { paused, subject, checkedAt, state: { evidence = [], recent } }: Alert,
  open: Incident | undefined,
  unreadable: Incident | undefined,
): string {
  const at = (moment: Date): string => formatRunTime(moment, subject.timeZone);
  if (paused) return `:double_vertical_bar: *Paused*: ${describePause(paused.reason, paused.by)}.`;
  if (unreadable)
    return `:see_no_evil: *Can’t check since ${at(unreadable.openedAt)}*: silence does not mean OK.`;
  if (!checkedAt) return ':hourglass_flowing_sand: *Not checked yet.*';
  const { damping, isEvent = false } = subject.condition;
  const wrong = evidence.filter(({ isWrong }) => isWrong);
  const [first] = wrong;
  const firing = wrong.length;
  // Where a check stores fewer rows than it judged, the nearest to the threshold are there.
  const isCut = evidence.length >= mostEvidence;
  const judged = countJudged(evidence);
  const unknown = describeUnknown(evidence);
  const what =
    firing === 1 && first
      ? `${escapeMrkdwn(first.name, 60)}: ${escapeMrkdwn(first.is)}`
      : `${countOf(firing, judged, isCut ? 'nearest value' : 'value')} over the threshold`;
  if (isEvent && firing === 0 && recent.length < 2)
    return ':hourglass_flowing_sand: *Baseline taken*: anything new is reported from now on.';
  if (firing > 0 && open) return `:rotating_light: *Firing since ${at(open.openedAt)}*: ${what}.`;
  if (firing > 0) {
    const checks = recent.slice(-damping.open[1]).filter(Boolean).length;
    return `:warning: *${what}*: ${pluralize(checks, 'check')} so far, it fires after ${damping.open[0]}.`;
  }
  if (open)
    return `:large_yellow_circle: *Not firing at the last check*: resolves after ${formatCount(damping.close, 'clean check')}.`;
  const sign = unknown ? ':grey_question:' : ':white_check_mark:';
  const asFar = unknown && ' as far as checked';
  if (isEvent) return `${sign} *Nothing happened${asFar}* since the last check${unknown && `: ${unknown}`}.`;
  if (judged === 0) return `:grey_question: *Not known yet*: ${unknown || 'nothing could be judged'}.`;
  const most = isCut ? 'the nearest to the threshold are below' : `${pluralize(judged, 'value')} checked`;
  return `${sign} *OK${asFar}*: ${join([most, unknown], ', ')}.`;
}

/** `fires after 2 of 3 checks over the threshold, resolves after 3 clean checks` */
function describeDamping({ damping: { open, close }, isEvent }: AlertCondition): string {
  if (isEvent) return 'fires at once';
  const [firing, of] = open;
  const fires =
    firing === 1
      ? 'at once'
      : `after ${firing === of ? `${formatCount(of, 'check')} in a row` : countOf(firing, of, 'check')} over the threshold`;
  return `fires ${fires}, resolves after ${formatCount(close, 'clean check')}`;
}

/** `Mon 23 Nov 10:05: resolved after 23 min: shop · 1,204 errors` */
function describeIncident(incident: Incident, current: Alert): string {
  const { kind, openedAt, closedAt, figures } = incident;
  const alert = { ...current, subject: figures.left ?? current.subject };
  const { isEvent = false } = alert.subject.condition;
  const who = listEverything(figures);
  const begun = formatRunTime(openedAt, alert.subject.timeZone);
  if (kind === 'unreadable')
    return `${begun}: ${closedAt ? `could not check for ${formatTime(openedAt, closedAt)}` : 'can’t check'}`;
  if (isEvent) return `${begun}: ${who}`;
  return `${begun}: ${closedAt ? describeEnd(incident, alert) : `${who}, still open`}`;
}
