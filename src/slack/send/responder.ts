import type { KnownBlock } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { allowSecrets } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Message } from '../../views/blocks/message.ts';
import { readSlackError } from '../installations.ts';
import { SecretLeakBlocked } from './egress.ts';

/** Where a private answer to one person can go, best way first. */
export interface Route {
  /** Slack's own address for answers to one command or click: five uses in thirty minutes, no scope, no membership. */
  readonly responseUrl?: string | undefined;
  readonly channelId?: string | undefined;
  readonly userId: string;
  /** Answers take the place of the message a button is in. */
  readonly replaces?: boolean;
  /** Answers of a button stand beside the message it is in. */
  readonly separate?: boolean;
}

export interface Responder {
  /** Sends an answer only its person sees; each further one takes the place of the one before. */
  send(message: Message): Promise<void>;
  /** Leaves the message a button is in as it is: for failures, after which people go on from there. */
  sendBeside(message: Message): Promise<void>;
  /** The same for an answer that another will follow: false, and not sent, where that one could not take its place. */
  sendUnlessLastUse(message: Message): Promise<boolean>;
  /** Says that something is under way, where the answer will take its place. */
  showProgress(): Promise<void>;
  /** Whether a further answer would take the place of the one before. */
  readonly replaces: () => boolean;
}

// Slack: five uses (slack.md §3.1). The last is kept for the last answer.
const usesOfResponseUrl = 5;
const timeoutMs = 5_000;

/**
 * Answers one person privately: by response_url, else as an ephemeral message in the channel, else as a direct message.
 *
 * Source of the limits: https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
 */
export function createResponder(options: {
  route: Route;
  client: () => Promise<WebClient>;
  fetch: typeof globalThis.fetch;
  log: Log;
}): Responder {
  const { route, log } = options;
  let uses = 0;
  let sent = 0;

  const byResponseUrl = async (message: Message, beside: boolean): Promise<boolean> => {
    if (!route.responseUrl || uses >= usesOfResponseUrl) return false;
    uses += 1;
    const takesSource = route.replaces === true && !beside;
    const replace = takesSource || (sent > 0 && !route.separate && !route.replaces);
    try {
      const response = await options.fetch(route.responseUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify({
          ...body(message),
          // A message keeps who sees it when it is replaced: a direct message is no ephemeral one.
          ...(takesSource ? {} : { response_type: 'ephemeral' }),
          replace_original: replace,
        }),
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
      });
      const answer = await response.text();
      if (response.ok && !answer.includes('"ok":false')) return true;
      log.warn(
        { status: response.status, answer: answer.slice(0, 200) },
        'Slack refused an answer by response_url',
      );
    } catch (error) {
      if (error instanceof SecretLeakBlocked) {
        // Slack heard nothing, so this use is left for the words that come instead.
        uses -= 1;
        throw error;
      }
      log.warn({ error }, 'an answer by response_url failed');
    }
    return false;
  };

  const byClient = async (message: Message): Promise<void> => {
    const client = await options.client();
    if (route.channelId) {
      try {
        await client.chat.postEphemeral({ ...body(message), channel: route.channelId, user: route.userId });
        return;
      } catch (error) {
        if (error instanceof SecretLeakBlocked) throw error;
        // The bot is not in that channel, or the channel is a conversation between people: the person still gets an answer.
        log.info(
          { reason: readSlackError(error) ?? 'network' },
          'ephemeral answer refused, sending a direct message',
        );
      }
    }
    await client.chat.postMessage({
      ...body(message),
      channel: route.userId,
      unfurl_links: false,
      unfurl_media: false,
    });
  };

  // One at a time: a sign of life that arrives after the answer would take its place.
  let before: Promise<unknown> = Promise.resolve();
  const send = (message: Message, beside = false): Promise<void> => {
    const sending = sendAfter(before, message, beside);
    before = sending.catch(() => undefined);
    return sending;
  };
  const sendAfter = async (earlier: Promise<unknown>, message: Message, beside: boolean): Promise<void> => {
    await earlier;
    await allowSecrets(message.carries ?? [], async () => {
      if (!(await byResponseUrl(message, beside))) await byClient(message);
    });
    sent += 1;
  };

  return {
    send: (message) => send(message),
    sendBeside: (message) => send(message, true),
    replaces: () => route.responseUrl !== undefined && !route.separate && uses < usesOfResponseUrl,
    async sendUnlessLastUse(message) {
      // Without a response_url nothing can take the place of an ephemeral message, and a button's takes the place of
      // the message that holds the button.
      if (!route.responseUrl || route.separate || uses >= usesOfResponseUrl - 1) return false;
      await send(message);
      return true;
    },
    async showProgress() {
      // What a press replaces stays readable until the answer is there.
      if (route.responseUrl && !route.separate && !route.replaces) await send({ text: 'Working on it…' });
    },
  };
}

function body(message: Message): { text: string; blocks?: KnownBlock[] } {
  return { text: message.text, ...(message.blocks ? { blocks: message.blocks } : {}) };
}
