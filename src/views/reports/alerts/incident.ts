import { requestsPerHour } from '../../../commands/reports/accounts/budget.ts';
import type { Part } from '../../../commands/reports/alerts/conditions/condition.ts';
import { findCondition } from '../../../commands/reports/alerts/conditions/list.ts';
import type { Alert, AlertSubject, Incident } from '../../../commands/reports/model.ts';
import {
  actions,
  context,
  type Message,
  type MessageBlock,
  message,
  say,
  section,
} from '../../blocks/blocks.ts';
import { button, commandButton } from '../../blocks/buttons.ts';
import { renderChart } from '../../blocks/chart.ts';
import { formatInteger, formatUtc, pluralize } from '../../blocks/format.ts';
import { overflow, selectOf } from '../../blocks/menu-of-buttons.ts';
import { escapeMrkdwn, formatCode, join, type Maybe, sanitizeMrkdwn, unbold } from '../../blocks/text.ts';
import { formatRunTime } from '../digests/schedule.ts';
import { describeSubject, formatDuration, targetNouns } from './words.ts';

/** Parts that have a line of their own in the message. */
const mostLines = 4;

interface Shown {
  readonly now: Date;
  /** Its alert cannot look since then. */
  readonly unreadableSince?: Date | undefined;
}

/** The message of an incident as it is now: kept up to date in place until it ends. */
export function renderIncident(incident: Incident, current: Alert, shown: Shown): Message {
  const alert = { ...current, subject: incident.figures.left ?? current.subject };
  return incident.kind === 'unreadable'
    ? renderUnreadable(incident, alert)
    : renderFiring(incident, alert, shown);
}

function renderFiring(incident: Incident, alert: Alert, { now, unreadableSince }: Shown): Message {
  const { figures, closedAt, acknowledged } = incident;
  const { subject } = alert;
  const { isEvent = false } = findCondition(subject.condition);
  const at = (moment: Date): string => formatRunTime(moment, subject.timeZone);
  const isOpen = closedAt === undefined;
  const sign = isEvent
    ? ':pencil2:'
    : isOpen
      ? ':rotating_light:'
      : figures.left
        ? ':double_vertical_bar:'
        : ':white_check_mark:';
  // Parts that are calm fired before the last check, and do not any more.
  const firing = isEvent ? figures.parts : figures.parts.filter(({ calm }) => calm === 0);
  const isCalming = isOpen && !isEvent && firing.length === 0;
  const checked = at(new Date(figures.lookedAt)).slice(-5);
  const headline = isCalming
    ? describeCalming(incident, subject)
    : isOpen || isEvent
      ? nameParts(firing, subject)
      : describeEnd(incident, subject);
  const text = `${isCalming ? ':large_yellow_circle:' : sign} *${headline}*`;
  const lines = firing.length > 1 && (isOpen || isEvent) ? listParts(firing) : [];
  const worst = isOpen && !isEvent && describeWorst(incident, subject);
  const snoozed = isOpen && alert.snoozed && alert.snoozed.until > now && alert.snoozed;
  return message(unbold(text), [
    section([
      text,
      ...lines,
      isOpen && !isEvent && join([`Since ${at(incident.openedAt)}`, `last check ${checked}`, worst], ' · '),
      isOpen &&
        unreadableSince &&
        `:see_no_evil: Not checked since ${at(unreadableSince)}: this may be over, or worse.`,
      isOpen &&
        alert.paused &&
        ':double_vertical_bar: Not checked while the alert is paused: this may be over, or worse.',
      isOpen && acknowledged && `:eyes: Acknowledged by <@${acknowledged.by}> at ${at(acknowledged.at)}.`,
      isOpen && snoozed && `:zzz: Snoozed until ${at(snoozed.until)} by <@${snoozed.by}>.`,
      isOpen && !acknowledged && mention(subject.names),
    ]),
    ...renderSeries(incident, subject),
    renderButtons(incident, alert, Boolean(snoozed)),
    footer(alert, [at(incident.openedAt)]),
  ]);
}

function renderUnreadable(
  { openedAt, closedAt, figures: { failure, left } }: Incident,
  alert: Alert,
): Message {
  const { subject } = alert;
  const at = (moment: Date): string => formatRunTime(moment, subject.timeZone);
  const text = left
    ? `Could not check since ${at(openedAt)}; ${leftWords}`
    : closedAt
      ? `Checking again since ${at(closedAt)}, after ${formatDuration(openedAt, closedAt)}`
      : `Can't check since ${at(openedAt)}`;
  const sign = closedAt && !left ? ':white_check_mark:' : ':see_no_evil:';
  const why = failure && sanitizeMrkdwn(failure.message);
  return message(`${sign} ${text}`, [
    section([
      `${sign} *${text}*`,
      why,
      !closedAt &&
        'Until this works again, silence does not mean OK. It keeps trying, and posts when it can check.',
    ]),
    actions(!closedAt && !alert.paused && button('Check now', 'alerts:check', alert.id), manageMenu(alert)),
    footer(alert, [failure?.reference !== undefined && `reference ${escapeMrkdwn(failure.reference, 20)}`]),
  ]);
}

/** The reason of a look that jobs have no requests left for. */
export function describeBudgetSpent(resetsAt: Date): string {
  return `Alerts and digests have used all ${formatInteger(requestsPerHour)} background requests of this account this hour. Checks go on at ${formatUtc(resetsAt).slice(11)}.`;
}

/** `shop: 502 errors in 10 minutes`, `3 zones over the threshold: shop, video, api`, `Setting changed, 3 times: shop` */
function nameParts(parts: readonly Part[], subject: AlertSubject): string {
  const [first] = parts;
  if (!first) return findCondition(subject.condition).label;
  if (parts.length === 1) return `${escapeMrkdwn(first.name, 60)}: ${escapeMrkdwn(first.text, 200)}`;
  const { isEvent, label, target } = findCondition(subject.condition);
  const names = listNames([...new Set(parts.map(({ name }) => name))]);
  if (isEvent) return `${label}, ${formatInteger(parts.length)} times: ${names}`;
  const noun = target === 'account' ? 'parts' : targetNouns[target][1];
  return `${label}, ${formatInteger(parts.length)} ${noun}: ${names}`;
}

/** `Not firing at the last check (10:20), resolves after 2 more: shop` */
function describeCalming({ figures }: Incident, subject: AlertSubject): string {
  const { damping } = findCondition(subject.condition);
  const left = Math.max(1, damping.close - Math.min(...figures.parts.map(({ calm }) => calm)));
  const when = formatRunTime(new Date(figures.lookedAt), subject.timeZone).slice(-5);
  const names = listNames([...new Set(figures.parts.map(({ name }) => name))]);
  return `Not firing at the last check (${when}), resolves after ${formatInteger(left)} more: ${names}`;
}

export function listNames(names: readonly string[], most = 3): string {
  const shown = names.slice(0, most).map((name) => escapeMrkdwn(name, 60));
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${formatInteger(more)} more` : ''}`;
}

export function listParts(parts: readonly Part[], most = mostLines): string[] {
  const lines = parts
    .slice(0, most)
    .map(({ name, text }) => `• *${escapeMrkdwn(name, 60)}*: ${escapeMrkdwn(text, 200)}`);
  const more = parts.length - lines.length;
  return more > 0 ? [...lines, `and ${formatInteger(more)} more`] : lines;
}

/** For an incident whose alert was deleted or now checks something else: nobody knows when it is over. */
const leftWords = 'no longer checked';

/** `Resolved after 23 min: shop · 1,204 errors, worst at 10:05: 310 errors` */
export function describeEnd(incident: Incident, subject: AlertSubject): string {
  const { openedAt, closedAt = openedAt, figures } = incident;
  const who = listNames(figures.everything);
  const end = figures.left
    ? `Open for ${formatDuration(openedAt, closedAt)}, then ${leftWords}`
    : `Resolved after ${formatDuration(openedAt, closedAt)}`;
  return `${end}: ${join([who, describeWorst(incident, subject)], ' · ')}`;
}

/** `1,204 errors in all, worst at 10:05: 310 errors` */
function describeWorst({ figures: { total, worst } }: Incident, subject: AlertSubject): string {
  const { formatValue = formatInteger } = findCondition(subject.condition);
  const when = formatRunTime(new Date(worst.at), subject.timeZone).slice(-5);
  return join(
    [
      total !== undefined && `${formatValue(total)} in all`,
      worst.value !== undefined && worst.value !== total && `worst at ${when}: ${formatValue(worst.value)}`,
      worst.value === undefined &&
        worst.parts > 1 &&
        `worst at ${when}: ${formatInteger(worst.parts)} at once`,
    ],
    ', ',
  );
}

/** Slack names a user group by another sign than a person. */
function mention(names: readonly string[]): Maybe<string> {
  const mentions = names.map((id) => (id.startsWith('S') ? `<!subteam^${id}>` : `<@${id}>`));
  return mentions.length > 0 && mentions.join(' ');
}

const fewestPoints = 3;
const mostPoints = 20;

function renderSeries({ figures: { series } }: Incident, subject: AlertSubject): MessageBlock[] {
  const { label, unit } = findCondition(subject.condition);
  if (unit === undefined || series.length < fewestPoints) return [];
  // The highest of neighbours, so that a peak is never left out.
  const size = Math.ceil(series.length / mostPoints);
  const buckets = Array.from({ length: Math.ceil(series.length / size) }, (_, nth) =>
    series.slice(nth * size, (nth + 1) * size),
  );
  const values = buckets.map((bucket) => Math.max(...bucket.map(([, value]) => value)));
  return renderChart({
    kind: 'line',
    title: label,
    unit: `${unit}, ${subject.timeZone}`,
    labels: buckets.map(([first]) =>
      formatRunTime(new Date(first?.[0] ?? 0), subject.timeZone).slice(size * subject.every > 60 ? 4 : -5),
    ),
    series: [{ name: label, values }],
  });
}

/** Minutes that a menu offers to snooze an alert for. */
const snoozes = [
  ['1 hour', 60],
  ['4 hours', 240],
  ['24 hours', 1440],
] as const;

function renderButtons(incident: Incident, alert: Alert, isSnoozed: boolean): MessageBlock {
  const { id, subject } = alert;
  const { figures, closedAt, acknowledged } = incident;
  const next = findCondition(subject.condition).next(figures.parts[0]);
  const isOpen = closedAt === undefined;
  return actions(
    isOpen && !acknowledged && button('Acknowledge', 'alerts:acknowledge', incident.id, { style: 'primary' }),
    commandButton(next.label, next.command),
    isOpen &&
      selectOf(
        'Snooze…',
        isSnoozed
          ? [button('End snooze', 'alerts:snooze', `${id}|0`)]
          : snoozes.map(([label, minutes]) => button(label, 'alerts:snooze', `${id}|${minutes}`)),
      ),
    manageMenu(alert),
  );
}

function manageMenu({ id, paused }: Alert) {
  return overflow(
    button('Why', 'alerts:why', id),
    !paused && button('Check now', 'alerts:check', id),
    paused ? button('Resume', 'alerts:resume', id) : button('Pause', 'alerts:pause', id),
    button('Edit', 'alerts:edit', id),
  );
}

function footer({ id, owner, subject }: Alert, facts: readonly Maybe<string>[]) {
  return context([`Alert ${formatCode(id)} of <@${owner.userId}>`, describeSubject(subject), ...facts]);
}

/** What came and what went at one check. */
export interface Change {
  readonly joined: readonly Part[];
  /** Names. */
  readonly left: readonly string[];
  /** How many still fire. */
  readonly remaining: number;
}

/** What came and what went, in the thread of an incident. */
export function renderChange({ joined, left, remaining }: Change, at: Date, { subject }: Alert): Message {
  const { isEvent = false } = findCondition(subject.condition);
  const time = formatRunTime(at, subject.timeZone).slice(-5);
  const also = `:heavy_plus_sign: ${time}${isEvent ? '' : ' also firing'}:`;
  const over =
    left.length > 0 &&
    `:white_check_mark: ${time} no longer firing: ${listNames(left, 5)} · ${formatInteger(remaining)} left`;
  // A notification has names alone: Slack takes 4,000 characters, and a sign may be written with five.
  const text = join(
    [
      joined.length > 0 &&
        `${also} ${listNames(
          joined.map(({ name }) => name),
          5,
        )}`,
      over,
    ],
    '\n',
  );
  return message(text, [section([joined.length > 0 && also, ...listParts(joined, 10), over])]);
}

export function renderResolved(incident: Incident, { subject }: Alert): Message {
  return say(`:white_check_mark: ${describeEnd(incident, subject)}`);
}

/** After a time in which an alert could not check. */
export function renderChecksAgain({ openedAt, closedAt = openedAt }: Incident): Message {
  return say(`:white_check_mark: It can check again, after ${formatDuration(openedAt, closedAt)}.`);
}

interface Quiet {
  readonly since: Date;
  readonly at: Date;
  /** Opened since then. */
  readonly incidents: number;
}

/** Says that an alert is checked, so that its silence can be trusted. */
export function renderHeartbeat(alert: Alert, { since, at, incidents }: Quiet): Message {
  const { id } = alert;
  const text = `:green_heart: Still watching: ${pluralize(incidents, 'incident')} in ${formatDuration(since, at)}.`;
  return say(text, actions(button('Why', 'alerts:why', id)), footer(alert, []));
}
