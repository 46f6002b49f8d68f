import { randomBytes } from 'node:crypto';
import type { WebClient } from '@slack/web-api';
import type { Sharing } from '../../commands/services.ts';
import { SlackFailure } from '../../outbox/slack-port.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { type AnswerPlace, findSharedWords, offerShare, type ShareOutcome } from '../../views/share.ts';
import { readSlackError } from '../installations.ts';
import { SecretLeakBlocked } from './egress.ts';
import type { SendNativeBlocks } from './native-blocks.ts';
import type { Responder, Route } from './responder.ts';
import type { PostToResponseUrl } from './response-url.ts';
import { createSlackPort } from './slack-port.ts';
import { discardFiles, type Uploads } from './uploads.ts';

interface SharingOptions {
  readonly route: Pick<Route, 'responseUrl' | 'channelId'>;
  /** A client that never repeats a call: a lost answer must not post twice. */
  readonly client: () => Promise<WebClient>;
  readonly uploads: Uploads;
  readonly postToResponseUrl: PostToResponseUrl;
  readonly tenant: string;
  /** Whoever asks: only channels that they see are found by name. */
  readonly userId: string;
  /** For an organisation: the workspace whose channels are meant. */
  readonly teamId: string | undefined;
  readonly sendNativeBlocks: SendNativeBlocks;
  readonly recall: Sharing['recall'];
  /** False if it was claimed before, and not released. */
  readonly claim: (id: string) => Promise<boolean>;
  readonly release: (id: string) => Promise<void>;
  readonly log: Log;
}

// Pages of a thousand channels that are looked through for a name.
const maxPages = 5;

/**
 * Shows answers to all who read a channel: where it was asked by response_url, which needs no scope and no membership, else
 * as a message of the bot, which must be in the channel.
 */
export function createSharing(options: SharingOptions): Sharing {
  const { route, client, uploads, log } = options;
  const port = createSlackPort(client, uploads);

  const deliver: Sharing['post'] = async (message, { channel, threadTs: thread, files }) => {
    const id = randomBytes(8).toString('hex');
    const byClient = () => port.post(channel, message, { id, thread });
    // A file wants the post's own thread, which only the bot's message tells.
    const url = channel === route.channelId && files.length === 0 ? route.responseUrl : undefined;
    if (url === undefined) {
      const posted = await byClient();
      if (files.length === 0) return 'posted';
      try {
        await port.share(files, { channel, thread: thread ?? posted.ts });
      } catch (error) {
        log.warn({ channel, error }, 'cannot share the file of an answer');
        return 'post-only';
      }
      return 'posted';
    }
    await postByUrl(url, message, thread, byClient);
    return 'posted';
  };

  /** Where charts and tables are refused by the response_url, the bot's own message may still take them. */
  const postByUrl = async (
    url: string,
    { text, blocks }: Message,
    thread: string | undefined,
    byClient: () => Promise<unknown>,
  ): Promise<void> => {
    const content = { text, blocks };
    const way = { tenant: options.tenant, method: 'response_url' };
    const about = {
      response_type: 'in_channel',
      // Else the answer that holds the button would be overwritten.
      replace_original: false,
      ...(thread === undefined ? {} : { thread_ts: thread }),
    };
    const isPosted = async (): Promise<boolean> => {
      try {
        await byClient();
        return true;
      } catch (error) {
        if (!(error instanceof SlackFailure) || error.outcome === 'unknown') throw error;
        return false;
      }
    };
    try {
      await options.sendNativeBlocks(way, content, async (sent) => {
        if (sent !== content && (await isPosted())) return;
        await options.postToResponseUrl(url, { ...sent, ...about });
      });
    } catch (error) {
      const reason = readSlackError(error);
      if (reason === undefined) throw error;
      log.info({ reason }, 'Slack refused a response_url, sharing as the bot');
      await byClient();
    }
  };

  const isMember = async (channel: string): Promise<boolean> => {
    let cursor: string | undefined;
    for (let page = 0; page < maxPages; page += 1) {
      const about = { channel, limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
      const answer = await orReason(client().then(({ conversations }) => conversations.members(about)));
      if (typeof answer === 'string') return false;
      if (answer.members?.includes(options.userId)) return true;
      cursor = answer.response_metadata?.next_cursor || undefined;
      if (cursor === undefined) return false;
    }
    return false;
  };

  return {
    recall: options.recall,
    async post(message, to) {
      const { once, channel, threadTs = '' } = to;
      const id = once === undefined ? undefined : `share:${once}:${channel}:${threadTs}`;
      if (id !== undefined && !(await options.claim(id))) {
        await discardFiles(to.files);
        return 'repeated';
      }
      try {
        return await deliver(message, to);
      } catch (error) {
        const outcome = explain(error);
        if (id !== undefined && outcome !== 'unknown') await options.release(id);
        if (outcome === undefined) throw error;
        log.warn({ channel, error }, 'cannot share an answer');
        return outcome;
      } finally {
        await discardFiles(to.files);
      }
    },
    async findChannel(name) {
      const wanted = name.toLowerCase();
      let cursor: string | undefined;
      for (let page = 0; page < maxPages; page += 1) {
        const answer = await orReason(
          client().then(({ conversations }) =>
            conversations.list({
              types: 'public_channel,private_channel',
              exclude_archived: true,
              limit: 1000,
              ...(options.teamId === undefined ? {} : { team_id: options.teamId }),
              ...(cursor === undefined ? {} : { cursor }),
            }),
          ),
        );
        if (typeof answer === 'string') return undefined;
        const found = answer.channels?.find((channel) => channel.name === wanted);
        if (found?.id) return !found.is_private || (await isMember(found.id)) ? found.id : undefined;
        cursor = answer.response_metadata?.next_cursor || undefined;
        if (cursor === undefined) return undefined;
      }
      return undefined;
    },
    readAudience: (channel) =>
      port.readAudience(channel).catch((error: unknown) => {
        if (error instanceof SlackFailure) return { unknown: error.code };
        throw error;
      }),
  };
}

/** What Slack answers, or the word with which it does not. */
async function orReason<T extends object>(call: Promise<T>): Promise<T | string> {
  try {
    return await call;
  } catch (error) {
    return readSlackError(error) ?? 'no-answer';
  }
}

/** The outcome of a failed post; undefined = nothing was posted, and the failure explains itself. */
function explain(error: unknown): ShareOutcome | undefined {
  if (error instanceof SecretLeakBlocked) return undefined;
  if (!(error instanceof SlackFailure)) return 'unknown';
  if (error.code === 'held_back') return undefined;
  return error.outcome === 'unknown' ? 'unknown' : { refused: error.code };
}

/** A responder whose answers offer *Share* where they stand, and are kept for it. */
export function withShare(
  responder: Responder,
  place: AnswerPlace,
  keep: (key: string, answer: Message) => void,
): Responder {
  return {
    replaces: () => responder.replaces(),
    send(message, as) {
      if (findSharedWords(message) === undefined) return responder.send(message, as);
      const key = randomBytes(6).toString('hex');
      keep(key, message);
      return responder.send(offerShare(message, place, key), as);
    },
  };
}
