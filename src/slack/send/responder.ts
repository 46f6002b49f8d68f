import type { WebClient } from '@slack/web-api';
import { allowSecrets } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Message } from '../../views/blocks/message.ts';
import { readSlackError } from '../installations.ts';
import { SecretLeakBlocked } from './egress.ts';
import type { SendNativeBlocks } from './native-blocks.ts';

/** The ways of a private answer to one person, best first. */
export interface Route {
  /** Slack's address for answers to one command or press: five uses in thirty minutes, no scope, no membership. */
  readonly responseUrl?: string | undefined;
  readonly channelId?: string | undefined;
  readonly userId: string;
  /** Answers replace the message that holds the button. */
  readonly replaces?: boolean;
  /** Answers are new messages beside the one that holds the button. */
  readonly separate?: boolean;
}

export interface Responder {
  /** Sends a private answer; each further one replaces the one before. */
  send(message: Message): Promise<void>;
  /** Sends a failure; the message that holds the button stays. */
  sendBeside(message: Message): Promise<void>;
  /** Sends an answer that another will replace; false, and not sent, if that would not be possible. */
  sendUnlessLastUse(message: Message): Promise<boolean>;
  /** Sends "Working on it…" if the answer will replace it. */
  showProgress(): Promise<void>;
  /** Whether a further answer would replace the one before. */
  readonly replaces: () => boolean;
}

// Slack's limit. The last use is kept for the last answer.
const maxUses = 5;
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
  /** The owner of the response_url. */
  installation: string;
  sendNativeBlocks: SendNativeBlocks;
  log: Log;
}): Responder {
  const { route, log } = options;
  let uses = 0;
  let sent = 0;

  const byResponseUrl = async (message: Message, beside: boolean): Promise<boolean> => {
    if (!route.responseUrl || uses >= maxUses) return false;
    const takesSource = route.replaces === true && !beside;
    const replace = takesSource || (sent > 0 && !route.separate && !route.replaces);
    const { responseUrl } = route;
    const post = async (content: object): Promise<true> => {
      uses += 1;
      const response = await options.fetch(responseUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify({
          ...content,
          // A replaced message keeps its visibility: a direct message must not become ephemeral.
          ...(takesSource ? {} : { response_type: 'ephemeral' }),
          replace_original: replace,
        }),
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
      });
      const answer = await response.text();
      if (response.ok && !answer.includes('"ok":false')) return true;
      // The code comes alone or in JSON.
      const code = answer.includes('invalid_blocks') ? 'invalid_blocks' : answer.slice(0, 200);
      throw Object.assign(new Error(`Slack answered HTTP ${response.status}`), {
        data: { error: code, response_metadata: { messages: [answer.slice(0, 200)] } },
      });
    };
    try {
      const way = { installation: options.installation, method: 'response_url' };
      return await options.sendNativeBlocks(way, toBody(message), post);
    } catch (error) {
      if (error instanceof SecretLeakBlocked) {
        // Nothing was sent, so this use is left for the text that replaces the answer.
        uses -= 1;
        throw error;
      }
      const reason = readSlackError(error);
      if (reason === undefined) log.warn({ error }, 'request to response_url failed');
      else log.warn({ reason }, 'Slack refused a response_url');
    }
    return false;
  };

  const byClient = async (message: Message): Promise<void> => {
    const client = await options.client();
    if (route.channelId) {
      try {
        await client.chat.postEphemeral({ ...toBody(message), channel: route.channelId, user: route.userId });
        return;
      } catch (error) {
        if (error instanceof SecretLeakBlocked) throw error;
        // The bot is not in that channel, or the channel is a conversation between people.
        log.info(
          { reason: readSlackError(error) ?? 'network' },
          'ephemeral answer refused, sending a direct message',
        );
      }
    }
    await client.chat.postMessage({
      ...toBody(message),
      channel: route.userId,
      unfurl_links: false,
      unfurl_media: false,
    });
  };

  // One at a time: a progress message that arrived after the answer would replace it.
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
    replaces: () => route.responseUrl !== undefined && !route.separate && uses < maxUses,
    async sendUnlessLastUse(message) {
      // Without a response_url an ephemeral message cannot be replaced.
      if (!route.responseUrl || route.separate || uses >= maxUses - 1) return false;
      await send(message);
      return true;
    },
    async showProgress() {
      // A message that the answer replaces stays readable until then.
      if (route.responseUrl && !route.separate && !route.replaces) await send({ text: 'Working on it…' });
    },
  };
}

function toBody(message: Message): Pick<Message, 'text' | 'blocks'> {
  return { text: message.text, ...(message.blocks ? { blocks: message.blocks } : {}) };
}
