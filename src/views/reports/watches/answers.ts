import type { Incident, Watch } from '../../../commands/reports/watches/model.ts';
import { actions, context, type Message, say } from '../../blocks/blocks.ts';
import { button } from '../../blocks/buttons.ts';
import { formatCode } from '../../blocks/text.ts';
import { formatRunTime } from '../digests/schedule.ts';
import { formatPlace } from '../schedules/words.ts';
import { describeCondition } from './words.ts';

/** For the channel of a new or moved watch. */
export function renderAnnouncement({ id, subject }: Watch, by: string): Message {
  return say(
    `<@${by}> lets a watch speak here: ${describeCondition(subject)}.`,
    context(`Watch ${formatCode(id)} · read with the key of <@${by}> · \`/cdn watch list\``),
  );
}

export function renderLooking({ id, channel }: Watch): Message {
  return say(
    `The watch ${formatCode(id)} looks now; ${formatPlace(channel)} hears if something begins, changes or ends.`,
    actions(button('Why', 'watches:why', id)),
  );
}

export function renderSnoozed({ id, snoozed, subject }: Watch): Message {
  if (!snoozed) return say(`The watch ${formatCode(id)} speaks again.`);
  const until = formatRunTime(snoozed.until, subject.timeZone);
  return say(
    `The watch ${formatCode(id)} is quiet until ${until}. It looks on, and tells then what still is wrong.`,
    actions(button('Speak again', 'watches:snooze', `${id}|0`)),
  );
}

export function renderAcknowledged({ acknowledged }: Incident): Message {
  return say(`You are on it${acknowledged ? '' : ' already'}: the incident says so.`);
}

export function renderNotAcknowledged({ acknowledged, closedAt }: Incident, { subject }: Watch): Message {
  if (closedAt) return say(`That is over since ${formatRunTime(closedAt, subject.timeZone)}.`);
  if (!acknowledged) return say('Nothing was changed. Look at the incident again.');
  const since = formatRunTime(acknowledged.at, subject.timeZone);
  return say(`<@${acknowledged.by}> is on it already, since ${since}.`);
}
