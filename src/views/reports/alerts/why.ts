import type { Condition } from '../../../commands/reports/alerts/conditions/condition.ts';
import { findCondition } from '../../../commands/reports/alerts/conditions/list.ts';
import type { Alert, AlertSubject, Incident } from '../../../commands/reports/model.ts';
import { renderAnswer } from '../../blocks/answer.ts';
import type { Message } from '../../blocks/blocks.ts';
import { button, commandButton } from '../../blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from '../../blocks/format.ts';
import { renderTable } from '../../blocks/table.ts';
import { capitalize, escapeMrkdwn, formatCode, join, sanitizeMrkdwn, unbold } from '../../blocks/text.ts';
import { formatRunTime } from '../digests/schedule.ts';
import { describePause } from '../words.ts';
import { describeEnd, formatTime, listNames } from './incident.ts';
import { describeEvery, describeHours, describeSubject } from './words.ts';

const mostIncidents = 3;
/** Rows that a check stores. */
const mostEvidence = 30;

/** The numbers behind the decision of an alert. `incidents`: the newest first. */
export function renderWhy(alert: Alert, incidents: readonly Incident[], asOf: Date): Message {
  const { id, subject, owner, state, checkedAt, paused } = alert;
  const condition = findCondition(subject.condition);
  const [open, unreadable] = (['firing', 'unreadable'] as const).map((kind) =>
    incidents.find((one) => one.kind === kind && !one.closedAt),
  );
  const failure = unreadable?.figures.failure;
  const headline = describeDecision(alert, open, unreadable);
  const next = condition.next(open?.figures.parts[0]);
  const rhythm = join([describeEvery(subject.every), describeHours(subject)], ', ');
  const last = checkedAt && `Last check ${formatRunTime(checkedAt, subject.timeZone)}`;
  return renderAnswer({
    text: unbold(headline),
    lines: [
      headline,
      failure && sanitizeMrkdwn(failure.message),
      capitalize(join([last, rhythm, describeDamping(condition)], ' · ')),
      ...incidents
        .slice(0, mostIncidents)
        .map((incident) => `• ${describeIncident(incident, incident.figures.left ?? subject)}`),
    ],
    picture: renderTable({
      caption: unreadable ? 'Last check that succeeded' : 'Last check',
      columns: ['What', 'Value', 'Fires if'],
      rows: (state.evidence ?? []).map(({ name, is, wrongIf = '–', isWrong }) => [
        `${isWrong ? '🔴 ' : ''}${name}`,
        is,
        wrongIf,
      ]),
    }),
    actions: [
      commandButton(next.label, next.command),
      !paused && button('Check now', 'alerts:check', id),
      button('Edit', 'alerts:edit', id),
    ],
    notes: [
      `Alert ${formatCode(id)} of <@${owner.userId}>`,
      describeSubject(subject),
      failure?.reference !== undefined && `reference ${escapeMrkdwn(failure.reference, 20)}`,
      `as of ${formatMoment(asOf)}`,
    ],
  });
}

/** One sentence: the number first. */
function describeDecision(
  { paused, subject, checkedAt, state: { evidence = [], recent } }: Alert,
  open: Incident | undefined,
  unreadable: Incident | undefined,
): string {
  const at = (moment: Date): string => formatRunTime(moment, subject.timeZone);
  if (paused) return `:double_vertical_bar: *Paused*: ${describePause(paused.reason, paused.by)}.`;
  if (unreadable)
    return `:see_no_evil: *Can't check since ${at(unreadable.openedAt)}*: silence does not mean OK.`;
  if (!checkedAt) return ':hourglass_flowing_sand: *Not checked yet.*';
  const { damping, isEvent = false } = findCondition(subject.condition);
  const wrong = evidence.filter(({ isWrong }) => isWrong);
  const [first] = wrong;
  const firing = wrong.length;
  // Where a check stores fewer rows than it judged, the nearest to the threshold are there.
  const isCut = evidence.length >= mostEvidence;
  const judged = evidence.filter(({ wrongIf }) => wrongIf !== undefined).length;
  const what =
    firing === 1 && first
      ? `${escapeMrkdwn(first.name, 60)}: ${escapeMrkdwn(first.is)}`
      : `${formatInteger(firing)} of ${isCut ? 'the nearest ' : ''}${formatInteger(judged)} over the threshold`;
  if (isEvent && firing === 0) return ':white_check_mark: *Nothing happened* since the check before.';
  if (firing > 0 && open) return `:rotating_light: *Firing since ${at(open.openedAt)}*: ${what}.`;
  if (firing > 0) {
    const checks = recent.slice(-damping.open[1]).filter(Boolean).length;
    return `:warning: *${what}*: ${pluralize(checks, 'check')} so far, it fires after ${damping.open[0]}.`;
  }
  if (open)
    return `:large_yellow_circle: *Not firing at the last check*: resolves after ${pluralize(damping.close, 'clean check')}.`;
  const most = isCut ? 'the nearest to the threshold are below' : `${pluralize(judged, 'value')} checked`;
  return `:white_check_mark: *OK*: ${most}.`;
}

/** `fires after 2 of 3 checks over the threshold, resolves after 3 clean checks` */
function describeDamping({ damping: { open, close }, isEvent }: Condition<string, unknown>): string {
  if (isEvent) return 'fires at once';
  const [firing, of] = open;
  const fires =
    firing === 1
      ? 'at once'
      : `after ${firing} ${firing === of ? 'checks in a row' : `of ${of} checks`} over the threshold`;
  return `fires ${fires}, resolves after ${pluralize(close, 'clean check')}`;
}

/** `Mon 23 Nov 10:05: resolved after 23 min: shop · 1,204 errors` */
function describeIncident(incident: Incident, subject: AlertSubject): string {
  const { kind, openedAt, closedAt, figures } = incident;
  const { isEvent = false } = findCondition(subject.condition);
  const who = listNames(figures.everything);
  const begun = formatRunTime(openedAt, subject.timeZone);
  if (kind === 'unreadable')
    return `${begun}: ${closedAt ? `could not check for ${formatTime(openedAt, closedAt)}` : "can't check"}`;
  if (isEvent) return `${begun}: ${who}`;
  return `${begun}: ${closedAt ? describeEnd(incident, subject) : `${who}, still open`}`;
}
