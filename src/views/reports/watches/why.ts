import type { Condition, Evidence } from '../../../commands/reports/watches/conditions/condition.ts';
import { findCondition } from '../../../commands/reports/watches/conditions/list.ts';
import type { Incident, Watch, WatchSubject } from '../../../commands/reports/watches/model.ts';
import { renderAnswer } from '../../blocks/answer.ts';
import type { Message } from '../../blocks/blocks.ts';
import { button, commandButton } from '../../blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from '../../blocks/format.ts';
import { renderTable } from '../../blocks/table.ts';
import { capitalize, escapeMrkdwn, formatCode, join, sanitizeMrkdwn, unbold } from '../../blocks/text.ts';
import { formatRunTime } from '../digests/schedule.ts';
import { describePause } from '../schedules/words.ts';
import { describeEnd } from './incident.ts';
import { describeEvery, describeHours, describeSubject, formatDuration } from './words.ts';

const mostIncidents = 3;
/** Figures that a look stores. */
const mostEvidence = 30;

/** The figures behind the decision of a watch. `incidents`: the newest first. */
export function renderWhy(watch: Watch, incidents: readonly Incident[], asOf: Date): Message {
  const { id, subject, owner, state, lookedAt, paused } = watch;
  const { evidence = [] } = state;
  const condition = findCondition(subject.condition);
  const open = incidents.find(({ kind, closedAt }) => kind === 'wrong' && !closedAt);
  const blind = incidents.find(({ kind, closedAt }) => kind === 'blind' && !closedAt);
  const failure = blind?.figures.failure;
  const headline = describeDecision(watch, { open, blind });
  const at = (moment: Date): string => formatRunTime(moment, subject.timeZone);
  const next = condition.next(open?.figures.parts[0]);
  return renderAnswer({
    text: unbold(headline),
    lines: [
      headline,
      blind && failure && sanitizeMrkdwn(failure.message),
      capitalize(
        join(
          [
            lookedAt && `Looked last at ${at(lookedAt)}`,
            join([describeEvery(subject.every), describeHours(subject)], ', '),
            describeDamping(condition),
          ],
          ' · ',
        ),
      ),
      ...incidents
        .slice(0, mostIncidents)
        .map((incident) => `• ${describeIncident(incident, incident.figures.left ?? subject)}`),
    ],
    picture: renderEvidence(
      evidence,
      blind ? 'Figures of the last look that succeeded' : 'Figures of the last look',
    ),
    actions: [
      commandButton(next.label, next.command),
      !paused && button('Look now', 'watches:look', id),
      button('Edit', 'watches:edit', id),
    ],
    notes: [
      `Watch ${formatCode(id)} of <@${owner.userId}>`,
      describeSubject(subject),
      failure?.reference !== undefined && `reference ${escapeMrkdwn(failure.reference, 20)}`,
      `as of ${formatMoment(asOf)}`,
    ].filter((note) => note !== false),
  });
}

/** One sentence: the number first. */
function describeDecision(
  { paused, subject, lookedAt, state: { evidence = [], recent } }: Watch,
  { open, blind }: { readonly open: Incident | undefined; readonly blind: Incident | undefined },
): string {
  const at = (moment: Date): string => formatRunTime(moment, subject.timeZone);
  if (paused) return `:double_vertical_bar: *It does not look*: ${describePause(paused.reason, paused.by)}.`;
  if (blind) return `:see_no_evil: *Cannot look since ${at(blind.openedAt)}*: its silence says nothing.`;
  if (!lookedAt) return ':hourglass_flowing_sand: *It has not looked yet.*';
  const { damping, isEvent = false } = findCondition(subject.condition);
  const [first] = evidence.filter(({ isWrong }) => isWrong);
  // Of more figures than are stored those nearest to the condition are there.
  const isCut = evidence.length >= mostEvidence;
  const judged = evidence.filter(({ wrongIf }) => wrongIf !== undefined).length;
  const wrong = evidence.filter(({ isWrong }) => isWrong).length;
  const what =
    wrong === 1 && first
      ? `${escapeMrkdwn(first.name, 60)}: ${escapeMrkdwn(first.is)}`
      : `${formatInteger(wrong)} of ${isCut ? 'the worst ' : ''}${pluralize(judged, 'figure')} are wrong`;
  if (isEvent && wrong === 0) return ':white_check_mark: *Nothing happened* since the look before.';
  if (wrong > 0 && open) return `:rotating_light: *${what}*, since ${at(open.openedAt)}.`;
  if (wrong > 0) {
    const looks = recent.slice(-damping.open[1]).filter(Boolean).length;
    return `:warning: *${what}*: ${pluralize(looks, 'wrong look')} so far, it speaks at ${damping.open[0]}.`;
  }
  if (open)
    return `:warning: *Nothing is wrong any more*: over after ${pluralize(damping.close, 'look')} like this.`;
  const most = isCut ? 'the nearest to it are below' : `${pluralize(judged, 'figure')} looked at`;
  return `:white_check_mark: *Nothing is wrong*: ${most}.`;
}

/** `speaks after 2 wrong looks of 3, over after 3 without` */
function describeDamping({ damping: { open, close }, isEvent }: Condition<string, unknown>): string {
  if (isEvent) return 'speaks at once';
  const [wrong, of] = open;
  const speaks =
    wrong === 1
      ? 'at the first wrong look'
      : `after ${wrong} wrong looks ${wrong === of ? 'in a row' : `of ${of}`}`;
  return `speaks ${speaks}, over after ${close === 1 ? 'one' : close} without`;
}

/** `Mon 23 Nov 10:05: resolved after 23 min: shop · 1,204 errors` */
function describeIncident(incident: Incident, subject: WatchSubject): string {
  const { kind, openedAt, closedAt, figures } = incident;
  const { isEvent = false } = findCondition(subject.condition);
  const names = figures.everything.slice(0, 3).map((name) => escapeMrkdwn(name, 60));
  const more = figures.everything.length - names.length;
  const who = `${names.join(', ')}${more > 0 ? ` and ${formatInteger(more)} more` : ''}`;
  const begun = formatRunTime(openedAt, subject.timeZone);
  if (kind === 'blind')
    return `${begun}: ${closedAt ? `could not look for ${formatDuration(openedAt, closedAt)}` : 'cannot look'}`;
  if (isEvent) return `${begun}: ${who}`;
  return `${begun}: ${closedAt ? describeEnd(incident, subject) : `${who}, not over`}`;
}

function renderEvidence(evidence: readonly Evidence[], caption: string) {
  return renderTable({
    caption,
    columns: ['What', 'Is', 'Wrong if'],
    rows: evidence.map(({ name, is, wrongIf = '–', isWrong }) => [
      `${isWrong ? '🔴 ' : ''}${name}`,
      is,
      wrongIf,
    ]),
  });
}
