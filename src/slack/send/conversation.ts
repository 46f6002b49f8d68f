import type { WebClient } from '@slack/web-api';
import { readCode } from '../../outbox/classify-failure.ts';
import { allowSecrets } from '../../secrets/secret.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { truncate } from '../../views/blocks/text.ts';
import { shownInConversation } from '../../views/conversation.ts';
import { readSlackError } from '../installations.ts';
import { postMessage } from './clients.ts';
import type { Conversation, Responder } from './responder.ts';

/** Whether a channel is a conversation of two. The bot is in it where a message of its own stands there for both. */
export function isConversation(channelId: string | undefined): boolean {
  return channelId?.startsWith('D') === true;
}

// Slack refuses an edit with a longer text, unlike a new message.
const maxText = 4000;

/**
 * Answers in the conversation with the bot, by ordinary messages that stay: the first answer is posted, each further one
 * replaces it. A failure leaves the message that holds the button. `pressedIn` answers where the button is, if that is
 * elsewhere.
 */
export function createConversation(
  { channel, threadTs, replaces }: Conversation,
  client: () => Promise<WebClient>,
  pressedIn?: Responder,
): Responder {
  let own = replaces === undefined ? undefined : { channel, ts: replaces };
  let isAnswered = false;

  const edit = async (
    { text, blocks = [] }: Message,
    at: { channel: string; ts: string },
  ): Promise<boolean> => {
    try {
      // An edit without blocks would keep the old ones.
      await (await client()).chat.update({ ...at, text: truncate(text, maxText), blocks });
      return true;
    } catch (error) {
      // It was deleted, or is too old to be edited.
      if (readCode(readSlackError(error)) !== 'absent') throw error;
      return false;
    }
  };
  const sendAfter = async (
    earlier: Promise<unknown>,
    message: Message,
    isFailure: boolean,
  ): Promise<void> => {
    await earlier;
    if (isFailure && pressedIn && !isAnswered) return void (await pressedIn.send(message, 'failure'));
    await allowSecrets(message.carries ?? [], async () => {
      const takes = isAnswered || !isFailure ? own : undefined;
      if (takes && (await edit(message, takes))) return;
      const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
      const posted = await postMessage(await client(), channel, message, thread);
      if (posted.ts !== undefined) own = { channel: posted.channel ?? channel, ts: posted.ts };
    });
    if (!isAnswered) await pressedIn?.send(shownInConversation);
    isAnswered = true;
  };

  // One at a time: a progress message that arrived after the answer would replace it.
  let before: Promise<unknown> = Promise.resolve();
  return {
    async send(message, as) {
      // A message that the answer replaces stays readable until then.
      if (as === 'progress' && replaces !== undefined) return false;
      const sending = sendAfter(before, message, as === 'failure');
      before = sending.catch(() => undefined);
      await sending;
      return true;
    },
    replaces: () => true,
  };
}
