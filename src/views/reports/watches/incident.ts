import { requestsPerHour } from '../../../commands/reports/accounts/budget.ts';
import type { Part } from '../../../commands/reports/watches/conditions/condition.ts';
import { findCondition } from '../../../commands/reports/watches/conditions/list.ts';
import type {
  Incident,
  IncidentFigures,
  Watch,
  WatchSubject,
} from '../../../commands/reports/watches/model.ts';
import { actions, context, type Message, type MessageBlock, message, section } from '../../blocks/blocks.ts';
import { button, commandButton } from '../../blocks/buttons.ts';
import { renderChart } from '../../blocks/chart.ts';
import { formatInteger, formatUtc } from '../../blocks/format.ts';
import { overflow, selectOf } from '../../blocks/menu-of-buttons.ts';
import { escapeMrkdwn, formatCode, join, type Maybe, sanitizeMrkdwn, unbold } from '../../blocks/text.ts';
import { formatRunTime } from '../digests/schedule.ts';
import { describeSubject, formatDuration } from './words.ts';

/** Parts that have a line of their own in the message. */
const mostLines = 4;

interface Shown {
  readonly now: Date;
  /** Its watch cannot look since then. */
  readonly blindSince?: Date | undefined;
}

/** The message of an incident as it is now: kept up to date in place until it ends. */
export function renderIncident(incident: Incident, current: Watch, shown: Shown): Message {
  const watch = { ...current, subject: incident.figures.left ?? current.subject };
  return incident.kind === 'blind' ? renderBlind(incident, watch) : renderWrong(incident, watch, shown);
}

function renderWrong(incident: Incident, watch: Watch, { now, blindSince }: Shown): Message {
  const { figures, closedAt, acknowledged } = incident;
  const { subject } = watch;
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
  const headline = isOpen || isEvent ? nameParts(figures, subject) : describeEnd(incident, subject);
  const text = `${sign} *${headline}*`;
  const lines = figures.parts.length > 1 && (isOpen || isEvent) ? listParts(figures.parts) : [];
  const worst = isOpen && !isEvent && describeWorst(incident, subject);
  const snoozed = isOpen && watch.snoozed && watch.snoozed.until > now && watch.snoozed;
  return message(unbold(`${sign} ${headline}`), [
    section([
      text,
      ...lines,
      worst && `Since ${at(incident.openedAt)} · ${worst}`,
      isOpen && blindSince && `:see_no_evil: Not looked since ${at(blindSince)}: this may be over, or worse.`,
      isOpen &&
        watch.paused &&
        ':double_vertical_bar: Not looked at, the watch is paused: this may be over, or worse.',
      isOpen && acknowledged && `:eyes: <@${acknowledged.by}> is on it since ${at(acknowledged.at)}.`,
      isOpen && snoozed && `:zzz: Quiet until ${at(snoozed.until)}, by <@${snoozed.by}>.`,
      isOpen && !acknowledged && mention(subject.names),
    ]),
    ...renderSeries(incident, subject),
    renderButtons(incident, watch, Boolean(snoozed)),
    footer(watch, [at(incident.openedAt)]),
  ]);
}

function renderBlind({ openedAt, closedAt, figures: { failure, left } }: Incident, watch: Watch): Message {
  const { subject } = watch;
  const at = (moment: Date): string => formatRunTime(moment, subject.timeZone);
  const text = left
    ? `Could not look since ${at(openedAt)}; ${leftWords}`
    : closedAt
      ? `Looks again since ${at(closedAt)}, after ${formatDuration(openedAt, closedAt)}`
      : `Cannot look since ${at(openedAt)}`;
  const sign = closedAt && !left ? ':white_check_mark:' : ':see_no_evil:';
  const why = failure && sanitizeMrkdwn(failure.message);
  return message(`${sign} ${text}`, [
    section([
      `${sign} *${text}*`,
      why,
      !closedAt && 'Until then its silence says nothing. It looks on, and tells when it can again.',
    ]),
    actions(
      !closedAt && button('Look now', 'watches:look', watch.id),
      overflow(button('Why', 'watches:why', watch.id), ...manageButtons(watch.id)),
    ),
    footer(watch, [failure?.reference !== undefined && `reference ${escapeMrkdwn(failure.reference, 20)}`]),
  ]);
}

/** The reason of a look that jobs have no requests left for. */
export function describeBudgetSpent(resetsAt: Date): string {
  return `Watches and digests of this account have sent ${formatInteger(requestsPerHour)} requests in this hour, which is all they may. They go on at ${formatUtc(resetsAt).slice(11)}.`;
}

/** `shop: 502 errors in 10 minutes`, `1,204 errors, 3 at once: shop, video, api`, `Setting changed, 3 times: shop` */
function nameParts({ parts, series, total }: IncidentFigures, subject: WatchSubject): string {
  const [first] = parts;
  if (!first) return 'Nothing is wrong any more';
  if (parts.length === 1) return `${escapeMrkdwn(first.name, 60)}: ${escapeMrkdwn(first.text, 200)}`;
  const all = new Set(parts.map(({ name }) => name));
  const names = [...all].slice(0, 3).map((name) => escapeMrkdwn(name, 60));
  const more = all.size - names.length;
  const { formatValue = formatInteger, isEvent, label } = findCondition(subject.condition);
  // Of what adds up the number says more than how many there are.
  const value = total === undefined ? undefined : series.at(-1)?.[1];
  const count = formatInteger(parts.length);
  const number = isEvent
    ? `${label}, ${count} times`
    : join([value !== undefined && formatValue(value), `${count} at once`], ', ');
  return `${number}: ${names.join(', ')}${more > 0 ? ` and ${formatInteger(more)} more` : ''}`;
}

export function listParts(parts: readonly Part[], most = mostLines): string[] {
  const lines = parts
    .slice(0, most)
    .map(({ name, text }) => `• *${escapeMrkdwn(name, 60)}*: ${escapeMrkdwn(text, 200)}`);
  const more = parts.length - lines.length;
  return more > 0 ? [...lines, `and ${formatInteger(more)} more`] : lines;
}

/** Of an incident whose watch was deleted or looks for something else: nobody knows when it is over. */
const leftWords = 'not looked at any more';

/** `Resolved after 23 min: shop · 1,204 errors, worst at 10:05: 310 errors` */
export function describeEnd(incident: Incident, subject: WatchSubject): string {
  const { openedAt, closedAt = openedAt, figures } = incident;
  const names = figures.everything.slice(0, 3).map((name) => escapeMrkdwn(name, 60));
  const more = figures.everything.length - names.length;
  const who = `${names.join(', ')}${more > 0 ? ` and ${formatInteger(more)} more` : ''}`;
  const end = figures.left
    ? `Open for ${formatDuration(openedAt, closedAt)}, then ${leftWords}`
    : `Resolved after ${formatDuration(openedAt, closedAt)}`;
  return `${end}: ${join([who, describeWorst(incident, subject)], ' · ')}`;
}

/** `1,204 errors, worst at 10:05: 310 errors` */
function describeWorst({ figures: { total, worst } }: Incident, subject: WatchSubject): string {
  const { formatValue = formatInteger } = findCondition(subject.condition);
  const when = formatRunTime(new Date(worst.at), subject.timeZone).slice(-5);
  return join(
    [
      total !== undefined && formatValue(total),
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

function renderSeries({ figures: { series } }: Incident, subject: WatchSubject): MessageBlock[] {
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

/** Minutes that a menu offers to keep a watch quiet for. */
const snoozes = [
  ['1 hour', 60],
  ['4 hours', 240],
  ['24 hours', 1440],
] as const;

function renderButtons(incident: Incident, { id, subject }: Watch, isSnoozed: boolean): MessageBlock {
  const { figures, closedAt, acknowledged } = incident;
  const next = findCondition(subject.condition).next(figures.parts[0]);
  const isOpen = closedAt === undefined;
  return actions(
    isOpen &&
      !acknowledged &&
      button('Acknowledge', 'watches:acknowledge', incident.id, { style: 'primary' }),
    commandButton(next.label, next.command),
    isOpen &&
      selectOf(
        'Snooze…',
        isSnoozed
          ? [button('Speak again', 'watches:snooze', `${id}|0`)]
          : snoozes.map(([label, minutes]) => button(label, 'watches:snooze', `${id}|${minutes}`)),
      ),
    overflow(button('Why', 'watches:why', id), ...manageButtons(id)),
  );
}

function manageButtons(id: string) {
  return [
    button('Look now', 'watches:look', id),
    button('Pause', 'watches:pause', id),
    button('Edit', 'watches:edit', id),
  ];
}

function footer({ id, owner, subject }: Watch, facts: readonly Maybe<string>[]) {
  return context([`Watch ${formatCode(id)} of <@${owner.userId}>`, describeSubject(subject), ...facts]);
}
