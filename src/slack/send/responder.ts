import type { WebClient } from '@slack/web-api';
import { readCode } from '../../outbox/classify-failure.ts';
import { allowSecrets } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import { context, limits, type Message } from '../../views/blocks/blocks.ts';
import type { Pressed } from '../../views/blocks/buttons.ts';
import { formatCount } from '../../views/blocks/format.ts';
import { truncate } from '../../views/blocks/text.ts';
import { shownInConversation } from '../../views/conversation.ts';
import { findSharedWords } from '../../views/share.ts';
import { readSlackError } from '../installations.ts';
import { explainFailure } from '../receive/failures.ts';
import { type PostToResponseUrl, postMessage } from './clients.ts';
import { SecretLeakBlocked } from './egress.ts';
import { withNativeOffer } from './native-blocks.ts';
import { discardFiles, type Uploads } from './slack-port.ts';

/** The ways of a private answer to one person, best first. */
export interface Route {
  /** Slack's address for answers to one command or press: five uses in thirty minutes, no scope, no membership. */
  readonly responseUrl?: string | undefined;
  readonly channelId?: string | undefined;
  /** The thread of the mention or press, by its first message. */
  readonly threadTs?: string | undefined;
  /** In the person's conversation with the bot, in place of all the ways above. */
  readonly inConversation?: Conversation | undefined;
  /** What shows the same once more: offered in that conversation where a chart or table is refused here. */
  readonly repeats?: (() => Pressed | undefined) | undefined;
  readonly userId: string;
  /** Answers replace the message that holds the button. */
  readonly replaces?: boolean;
  /** Answers are new messages; the one that holds the button stays. */
  readonly separate?: boolean;
}

/** The conversation of a person with the bot, which only the two see. */
interface Conversation {
  /** Its id, or the person's. */
  readonly channel: string;
  readonly threadTs?: string | undefined;
  /** The message with the pressed button, if the answer replaces it. */
  readonly replaces?: string | undefined;
  /** The button was pressed elsewhere: a note there says where the answer is, or why there is no answer. */
  readonly isElsewhere?: true;
}

/** Whether a channel is a conversation of two. The bot is in it if one of its messages is visible to both. */
export function isConversation(channelId: string | undefined): boolean {
  return channelId?.startsWith('D') === true;
}

export interface Responder {
  /**
   * Sends a private answer; each further one replaces the one before. `interim` and `progress` are sent only if another
   * answer will replace them; false if not. A `failure` leaves the message that holds the button.
   */
  send(message: Message, as?: 'interim' | 'progress' | 'failure'): Promise<boolean>;
  /** Whether a further answer would replace the one before. */
  replaces(): boolean;
}

interface ResponderOptions {
  readonly route: Route;
  readonly client: () => Promise<WebClient>;
  readonly postToResponseUrl: PostToResponseUrl;
  readonly tenant: string;
  readonly log: Log;
}

/** Answers one person privately: in their conversation with the bot if the route says so, else where they are. */
export function createResponder(options: ResponderOptions): Responder {
  const { inConversation } = options.route;
  if (!inConversation) return answerInPlace(options);
  const pressedIn = inConversation.isElsewhere && answerInPlace(options);
  return answerInConversation(inConversation, options.client, pressedIn);
}

/** One at a time: a progress message that arrived after the answer would replace it. */
function inOrder(send: (message: Message, isFailure: boolean) => Promise<void>): typeof send {
  let before: Promise<unknown> = Promise.resolve();
  return async (message, isFailure) => {
    const sending = before.then(() => allowSecrets(message.carries ?? [], () => send(message, isFailure)));
    before = sending.catch(() => undefined);
    await sending;
  };
}

// Slack's limit. The last use is kept for the last answer.
const maxUses = 5;

/**
 * By response_url, else as an ephemeral message in the channel, else as a direct message.
 *
 * Source of the limits: https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
 */
function answerInPlace({ route, log, ...options }: ResponderOptions): Responder {
  const { responseUrl, channelId, threadTs, userId, replaces = false, separate = false } = route;
  const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
  let sent = 0;

  const toBody = ({ text, blocks }: Message): Pick<Message, 'text' | 'blocks'> => {
    if (!blocks) return { text };
    const words = findSharedWords({ text, blocks });
    const repeats =
      route.repeats?.() ?? (words === undefined ? undefined : { actionId: 'help:run', value: words });
    return { text, blocks: repeats ? withNativeOffer(blocks, repeats) : blocks };
  };
  const byResponseUrl = async (message: Message, url: string, isFailure: boolean): Promise<boolean> => {
    const takesSource = replaces && !isFailure;
    try {
      await options.postToResponseUrl(options.tenant, url, {
        ...toBody(message),
        ...thread,
        // A replaced message keeps its visibility: a direct message must not become ephemeral.
        ...(takesSource ? {} : { response_type: 'ephemeral' }),
        replace_original: takesSource || (sent > 0 && !separate && !replaces),
      });
      return true;
    } catch (error) {
      if (error instanceof SecretLeakBlocked) throw error;
      const reason = readSlackError(error);
      if (reason === undefined) log.warn({ error }, 'request to response_url failed');
      else log.warn({ reason }, 'Slack refused a response_url');
      return false;
    }
  };
  const byClient = async (message: Message): Promise<void> => {
    const client = await options.client();
    try {
      if (channelId) {
        await client.chat.postEphemeral({ ...toBody(message), ...thread, channel: channelId, user: userId });
        return;
      }
    } catch (error) {
      if (error instanceof SecretLeakBlocked) throw error;
      // The bot is not in that channel, or the channel is a conversation between people.
      const reason = readSlackError(error) ?? 'network';
      log.info({ reason }, 'ephemeral answer refused, sending a direct message');
    }
    await postMessage(client, userId, message);
  };
  const sendNext = inOrder(async (message, isFailure) => {
    if (!responseUrl || sent >= maxUses || !(await byResponseUrl(message, responseUrl, isFailure)))
      await byClient(message);
    sent += 1;
  });

  return {
    async send(message, as) {
      // Without a response_url an ephemeral message cannot be replaced.
      const isReplaceable = responseUrl !== undefined && !separate && sent < maxUses - 1;
      if ((as === 'interim' || as === 'progress') && !isReplaceable) return false;
      // A message that the answer replaces stays readable until then.
      if (as === 'progress' && replaces) return false;
      await sendNext(message, as === 'failure');
      return true;
    },
    replaces: () => responseUrl !== undefined && !separate && sent < maxUses,
  };
}

// Slack refuses an edit with a longer text, unlike a new message.
const maxEditedText = 4000;

/**
 * By ordinary messages that stay: the first answer is posted, each further one replaces it. A failure leaves the message
 * that holds the button. `pressedIn` answers where the button is, if that is elsewhere.
 */
function answerInConversation(
  { channel, threadTs, replaces }: Conversation,
  client: () => Promise<WebClient>,
  pressedIn?: Responder,
): Responder {
  let own = replaces === undefined ? undefined : { channel, ts: replaces };
  let isAnswered = false;

  const edit = async ({ text, blocks = [] }: Message, at: NonNullable<typeof own>): Promise<boolean> => {
    try {
      // An edit without blocks would keep the old ones.
      await (await client()).chat.update({ ...at, text: truncate(text, maxEditedText), blocks });
      return true;
    } catch (error) {
      // It was deleted, or is too old to be edited.
      if (readCode(readSlackError(error)) !== 'absent') throw error;
      return false;
    }
  };
  const sendNext = inOrder(async (message, isFailure) => {
    if (isFailure && pressedIn && !isAnswered) return void (await pressedIn.send(message, 'failure'));
    const takes = isAnswered || !isFailure ? own : undefined;
    if (!takes || !(await edit(message, takes))) {
      const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
      const posted = await postMessage(await client(), channel, message, thread);
      if (posted.ts !== undefined) own = { channel: posted.channel ?? channel, ts: posted.ts };
    }
    if (!isAnswered) await pressedIn?.send(shownInConversation);
    isAnswered = true;
  });

  return {
    async send(message, as) {
      // A message that the answer replaces stays readable until then.
      if (as === 'progress' && replaces !== undefined) return false;
      await sendNext(message, as === 'failure');
      return true;
    },
    replaces: () => true,
  };
}

/**
 * A responder that also sends the files of an answer: first the text, then the files to the person's direct messages,
 * the only place in Slack where a file is private. A failed upload adds a note with a reference to the answer.
 */
export function withFiles(
  responder: Responder,
  { uploads, userId, log }: { readonly uploads: Uploads; readonly userId: string; readonly log: Log },
): Responder {
  const noteFailure = async (message: Message, error: unknown): Promise<void> => {
    const {
      message: what,
      hint = '',
      reference,
    } = explainFailure(error, { kind: 'file', feature: 'files' }, log);
    const note = `:warning: The file did not come. ${what} ${hint} Reference ${reference}`;
    // If the answer cannot be replaced, the note is a message below it.
    await responder.send(
      responder.replaces() ? addNote(message, note) : { text: note, blocks: [context(note)] },
    );
  };

  return {
    replaces: () => responder.replaces(),
    async send(message, as) {
      const { files = [] } = message;
      if (files.length === 0) return responder.send(message, as);
      const coming = files.length === 1 ? 'The file comes' : `${formatCount(files.length, 'file')} come`;
      const announced = addNote(message, `:arrow_down: ${coming} to you as a direct message from this app.`);
      let isDone = true;
      try {
        // An answer that is not sent now is sent later, with its files.
        isDone = await responder.send(announced, as);
        if (!isDone) return false;
        await uploads
          .findDirectMessages(userId)
          .then((channel) => uploads.share(files, { channel, comment: truncate(message.text, 3000) }))
          .catch((error: unknown) => noteFailure(message, error));
        return true;
      } finally {
        if (isDone) await discardFiles(files);
      }
    },
  };
}

function addNote(message: Message, note: string): Message {
  const { blocks = [] } = message;
  return blocks.length === 0 || blocks.length >= limits.blocks
    ? message
    : { ...message, blocks: [...blocks, context(note)] };
}
