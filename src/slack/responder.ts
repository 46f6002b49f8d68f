import type { KnownBlock } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import type { Message } from '../commands/define.ts';
import type { Log } from '../log.ts';
import { carrying } from '../secret.ts';
import { slackErrorOf } from './access.ts';
import { EgressStopped } from './egress.ts';

/** Where a private answer to one person can go, best way first. */
export interface Route {
  /** Slack's own address for answers to one command or click: five uses in thirty minutes, no scope, no membership. */
  readonly responseUrl?: string | undefined;
  readonly channelId?: string | undefined;
  readonly userId: string;
  /** The first answer takes the place of the message a button is in. */
  readonly replaces?: boolean;
}

export interface Responder {
  /** Sends an answer only its person sees; each further one takes the place of the one before. */
  send(message: Message): Promise<void>;
  /** The same for an answer that another may follow: false, and not sent, where only the use for the last one is left. */
  sendUnlessLastUse(message: Message): Promise<boolean>;
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

  const byResponseUrl = async (message: Message): Promise<boolean> => {
    if (!route.responseUrl || uses >= usesOfResponseUrl) return false;
    uses += 1;
    const replace = sent > 0 || route.replaces === true;
    try {
      const response = await options.fetch(route.responseUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify({
          ...body(message),
          // A message keeps who sees it when it is replaced: a direct message is no ephemeral one.
          ...(route.replaces ? {} : { response_type: 'ephemeral' }),
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
      if (error instanceof EgressStopped) {
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
        if (error instanceof EgressStopped) throw error;
        // The bot is not in that channel, or the channel is a conversation between people: the person still gets an answer.
        log.info(
          { reason: slackErrorOf(error) ?? 'network' },
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

  const send = async (message: Message): Promise<void> => {
    await carrying(message.carries ?? [], async () => {
      if (!(await byResponseUrl(message))) await byClient(message);
    });
    sent += 1;
  };

  return {
    send,
    async sendUnlessLastUse(message) {
      if (uses >= usesOfResponseUrl - 1) return false;
      await send(message);
      return true;
    },
  };
}

function body(message: Message): { text: string; blocks?: KnownBlock[] } {
  return { text: message.text, ...(message.blocks ? { blocks: message.blocks } : {}) };
}
