import type { ActionsBlockElement, Button } from '@slack/types';
import { shareButton } from '../share.ts';
import { actions, context, type Message, type MessageBlock, message, section } from './blocks.ts';
import { overflow } from './buttons.ts';
import { join, type Maybe, type Texts } from './text.ts';

export interface ReadAnswer {
  readonly text: string;
  /** One to three short lines in mrkdwn, the number first. */
  readonly lines: Texts;
  readonly warnings?: readonly Maybe<string>[];
  /** One chart or one table: Slack scrolls to the end of a new message, so of more the number is not seen. */
  readonly picture?: readonly MessageBlock[];
  /** The likely next step first, then a menu of periods or neighbours. At most three. */
  readonly actions: readonly Maybe<ActionsBlockElement>[];
  /** The typed words that show the same (`errors checkout today`); undefined = not to be shared. */
  readonly share?: string | undefined;
  readonly more?: readonly Maybe<Button>[];
  readonly notes: Texts;
}

export function renderAnswer(answer: ReadAnswer): Message {
  const { text, lines, warnings = [], picture = [], notes, share, more = [] } = answer;
  const warning = join(warnings, '\n');
  return message(text, [
    section(lines),
    warning && section(warning),
    ...picture,
    actions(...answer.actions, share !== undefined && shareButton(share), overflow(...more)),
    join(notes, '') !== '' && context(notes),
  ]);
}
