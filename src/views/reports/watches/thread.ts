import type { Part } from '../../../commands/reports/watches/conditions/condition.ts';
import { findCondition } from '../../../commands/reports/watches/conditions/list.ts';
import type { Incident, IncidentFigures, Watch } from '../../../commands/reports/watches/model.ts';
import { type Message, message, say, section } from '../../blocks/blocks.ts';
import { formatInteger } from '../../blocks/format.ts';
import { escapeMrkdwn, join } from '../../blocks/text.ts';
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
  const also = `:heavy_plus_sign: ${time}${isEvent ? '' : ' also'}:`;
  const over =
    left.length > 0 &&
    `:white_check_mark: ${time} no longer: ${listNames(left)} · ${formatInteger(figures.parts.length)} left`;
  // A notification has names alone: Slack takes 4,000 characters, and a sign may be written with five.
  const text = join([joined.length > 0 && `${also} ${listNames(joined)}`, over], '\n');
  return message(text, [section([joined.length > 0 && also, ...listParts(joined, 10), over])]);
}

function listNames(parts: readonly Part[]): string {
  const names = parts.slice(0, 5).map(({ name }) => escapeMrkdwn(name, 60));
  const more = parts.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${formatInteger(more)} more` : ''}`;
}

export function renderResolved(incident: Incident, { subject }: Watch): Message {
  return say(`:white_check_mark: ${describeEnd(incident, subject)}`);
}

/** After a time in which a watch could not look. */
export function renderLooksAgain({ openedAt, closedAt = openedAt }: Incident): Message {
  return say(`:white_check_mark: It looks again, after ${formatDuration(openedAt, closedAt)}.`);
}
