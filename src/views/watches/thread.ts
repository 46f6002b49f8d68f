import type { Part } from '../../watches/conditions/condition.ts';
import { findCondition } from '../../watches/conditions/list.ts';
import type { Incident, IncidentFigures, Watch } from '../../watches/model.ts';
import { type Message, say } from '../blocks/blocks.ts';
import { formatInteger } from '../blocks/format.ts';
import { escapeMrkdwn, join } from '../blocks/text.ts';
import { formatRunTime } from '../digests/schedule.ts';
import { describeEnd, listParts } from './incident.ts';
import { formatDuration } from './words.ts';

interface Change {
  readonly joined: readonly Part[];
  readonly left: readonly Part[];
  readonly figures: IncidentFigures;
  readonly at: Date;
}

/** What came and what went, in the thread of an incident. */
export function renderChange({ joined, left, figures, at }: Change, { subject }: Watch): Message {
  const { isEvent = false } = findCondition(subject.condition);
  const time = formatRunTime(at, subject.timeZone).slice(-5);
  const names = left.map(({ name }) => escapeMrkdwn(name, 60)).slice(0, 10);
  const more = left.length - names.length;
  const rest = figures.parts.length;
  const lines = [
    joined.length > 0 && `:heavy_plus_sign: ${time}${isEvent ? '' : ' also'}:`,
    ...listParts(joined, 10),
    left.length > 0 &&
      `:white_check_mark: ${time} no longer: ${names.join(', ')}${more > 0 ? ` and ${formatInteger(more)} more` : ''} · ${formatInteger(rest)} left`,
  ];
  return say(join(lines, '\n'));
}

export function renderResolved(incident: Incident, { subject }: Watch): Message {
  return say(`:white_check_mark: ${describeEnd(incident, subject)}`);
}

/** After a time in which a watch could not look. */
export function renderLooksAgain({ openedAt, closedAt = openedAt }: Incident): Message {
  return say(`:white_check_mark: It looks again, after ${formatDuration(openedAt, closedAt)}.`);
}
