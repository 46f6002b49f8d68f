import type { WebClient } from '@slack/web-api';
import { SecretLeakBlocked } from '../../errors.ts';
import { allowSecrets } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import { context, limits, type Message } from '../../views/blocks/blocks.ts';
import type { Pressed } from '../../views/blocks/buttons.ts';
import { formatCount } from '../../views/blocks/format.ts';
import { truncate } from '../../views/blocks/text.ts';
import { shownInConversation } from '../../views/conversation.ts';
import { findSharedWords } from '../../views/share.ts';
import { isThere, readSlackError } from '../installations.ts';
import { explainFailure } from '../receive/failures.ts';
import { type PostToResponseUrl, postMessage, waitOutLimits } from './clients.ts';
import { withNativeOffer } from './native-blocks.ts';
import { discardFiles, type Slack } from './slack-port.ts';

export interface Route {
  /** Five uses in thirty minutes, no scope, no membership. */
  readonly responseUrl?: string | undefined;
  readonly channelId?: string | undefined;
  readonly threadTs?: string | undefined;
  /** Instead of all the ways above. */
  readonly inConversation?: Conversation | undefined;
  /** Shows the same once more, in that conversation, where a chart or table is refused here. */
  readonly repeats?: (() => Pressed | undefined) | undefined;
  readonly userId: string;
  readonly replaces?: boolean;
  /** The message that holds the button stays. */
  readonly separate?: boolean;
}

interface Conversation {
  readonly channel: string;
  readonly threadTs?: string | undefined;
  /** The message with the pressed button, which the answer replaces. */
  readonly replaces?: string | undefined;
  /** The button was pressed elsewhere; a note there says where the answer is. */
  readonly isElsewhere?: true;
}

/** Whether a channel is a conversation of two. */
export function isConversation(channelId: string | undefined): boolean {
  return channelId?.startsWith('D') === true;
}

/** `interim` and `progress` go only if they will be replaced; false if not. A `failure` leaves the pressed button. */
export type Respond = (message: Message, as?: 'interim' | 'progress' | 'failure') => Promise<boolean>;

interface ResponderOptions {
  readonly route: Route;
  readonly client: () => Promise<WebClient>;
  readonly postToResponseUrl: PostToResponseUrl;
  readonly tenant: string;
  /** Aborted when the bot stops: pauses of Slack are no longer waited for. */
  readonly signal: AbortSignal;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

export function createResponder(options: ResponderOptions): Respond {
  const { inConversation } = options.route;
  if (!inConversation) return answerInPlace(options);
  const pressedIn = inConversation.isElsewhere && answerInPlace(options);
  return answerInConversation(inConversation, options, pressedIn);
}

/** In order, since a late progress message would replace the answer. */
function inOrder(send: (message: Message, isFailure: boolean) => Promise<void>): typeof send {
  let before: Promise<unknown> = Promise.resolve();
  return async (message, isFailure) => {
    const sending = before.then(() => allowSecrets(message.carries ?? [], () => send(message, isFailure)));
    before = sending.catch(() => undefined);
    await sending;
  };
}

// The last use is kept for the last answer.
const maxUses = 5;

/** Limits: https://docs.slack.dev/interactivity/handling-user-interaction#message_responses */
function answerInPlace({ route, log, ...options }: ResponderOptions): Respond {
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
        // A direct message must not become ephemeral.
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
        const body = { ...toBody(message), ...thread, channel: channelId, user: userId };
        await waitOutLimits(() => client.chat.postEphemeral(body), options.signal);
        return;
      }
    } catch (error) {
      if (error instanceof SecretLeakBlocked) throw error;
      // The bot is not in that channel, or the channel is a conversation between people.
      const reason = readSlackError(error) ?? 'network';
      log.info({ reason }, 'ephemeral answer refused, sending a direct message');
    }
    await waitOutLimits(() => postMessage(client, userId, message), options.signal);
  };
  const sendNext = inOrder(async (message, isFailure) => {
    if (!responseUrl || sent >= maxUses || !(await byResponseUrl(message, responseUrl, isFailure)))
      await byClient(message);
    sent += 1;
  });

  return async (message, as) => {
    const isReplaceable = responseUrl !== undefined && !separate && sent < maxUses - 1;
    if ((as === 'interim' || as === 'progress') && !isReplaceable) return false;
    // Readable until the answer.
    if (as === 'progress' && replaces) return false;
    await sendNext(message, as === 'failure');
    return true;
  };
}

// Slack refuses a longer text in an edit.
const maxEditedText = 4000;

/** Posts the first answer and edits it for each further one. `pressedIn` answers where the button is, if elsewhere. */
function answerInConversation(
  { channel, threadTs, replaces }: Conversation,
  { client, signal }: Pick<ResponderOptions, 'client' | 'signal'>,
  pressedIn?: Respond,
): Respond {
  let own = replaces === undefined ? undefined : { channel, ts: replaces };
  let isAnswered = false;

  const edit = async ({ text, blocks = [] }: Message, at: NonNullable<typeof own>): Promise<boolean> => {
    const { chat } = await client();
    // An edit without blocks would keep the old ones. It may be deleted, or too old to be edited.
    const shown = { ...at, text: truncate(text, maxEditedText), blocks };
    return isThere(waitOutLimits(() => chat.update(shown), signal));
  };
  const sendNext = inOrder(async (message, isFailure) => {
    if (isFailure && pressedIn && !isAnswered) return void (await pressedIn(message, 'failure'));
    const takes = isAnswered || !isFailure ? own : undefined;
    if (!takes || !(await edit(message, takes))) {
      const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
      const asBot = await client();
      const posted = await waitOutLimits(() => postMessage(asBot, channel, message, thread), signal);
      if (posted.ts !== undefined) own = { channel: posted.channel ?? channel, ts: posted.ts };
    }
    if (!isAnswered) await pressedIn?.(shownInConversation);
    isAnswered = true;
  });

  return async (message, as) => {
    if (as === 'progress' && replaces !== undefined) return false;
    await sendNext(message, as === 'failure');
    return true;
  };
}

/** Files go to the person's direct messages: nowhere else in Slack are they private. */
export function withFiles(
  respond: Respond,
  { slack, userId, log }: { readonly slack: Slack; readonly userId: string; readonly log: Log },
): Respond {
  const noteFailure = async (message: Message, error: unknown): Promise<void> => {
    const failure = explainFailure(error, { kind: 'file', feature: 'files' }, log);
    const { message: what, hint = '', reference } = failure;
    const note = `:warning: The file could not be sent. ${what} ${hint} Reference ${reference}`;
    await respond(addNote(message, note));
  };

  return async (message, as) => {
    const { files = [] } = message;
    if (files.length === 0) return respond(message, as);
    const coming = files.length === 1 ? 'The file comes' : `${formatCount(files.length, 'file')} come`;
    const announced = addNote(message, `:arrow_down: ${coming} to you as a direct message from this app.`);
    let isDone = true;
    try {
      isDone = await respond(announced, as);
      if (!isDone) return false;
      await slack
        .findDirectMessages(userId)
        .then((channel) => slack.share(files, { channel, comment: truncate(message.text, 3000) }))
        .catch((error: unknown) => noteFailure(message, error));
      return true;
    } finally {
      if (isDone) await discardFiles(files);
    }
  };
}

function addNote(message: Message, note: string): Message {
  const { blocks = [] } = message;
  return blocks.length === 0 || blocks.length >= limits.blocks
    ? message
    : { ...message, blocks: [...blocks, context(note)] };
}
