import type { Watch } from '../../../commands/reports/watches/model.ts';
import { actions, context, type Message, say } from '../../blocks/blocks.ts';
import { button } from '../../blocks/buttons.ts';
import { pluralize } from '../../blocks/format.ts';
import { formatCode } from '../../blocks/text.ts';
import { describeSubject, formatDuration } from './words.ts';

interface Report {
  readonly since: Date;
  readonly at: Date;
  /** Opened since then. */
  readonly incidents: number;
}

/** Says that a watch looks, so that its silence can be trusted. */
export function renderLifeSign(watch: Watch, { since, at, incidents }: Report): Message {
  const { id, subject, owner } = watch;
  const text = `:green_heart: Still looking: ${pluralize(incidents, 'incident')} in ${formatDuration(since, at)}.`;
  return say(
    text,
    actions(button('Why', 'watches:why', id)),
    context([`Watch ${formatCode(id)} of <@${owner.userId}>`, describeSubject(subject)]),
  );
}
