import type { Alert, Incident } from '../../../commands/reports/model.ts';
import { actions, type Message, say } from '../../blocks/blocks.ts';
import { button } from '../../blocks/buttons.ts';
import { formatCode } from '../../blocks/text.ts';
import { formatRunTime } from '../digests/schedule.ts';
import { formatPlace } from '../words.ts';

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
  { acknowledged, closedAt }: Incident,
  { subject }: Alert,
  isNew: boolean,
): Message {
  const at = (moment: Date): string => formatRunTime(moment, subject.timeZone);
  if (isNew) return say('Acknowledged: the incident shows your name.');
  if (closedAt) return say(`That was resolved at ${at(closedAt)}.`);
  if (!acknowledged) return say('Nothing was changed. Open the incident again.');
  return say(`<@${acknowledged.by}> already acknowledged it at ${at(acknowledged.at)}.`);
}
