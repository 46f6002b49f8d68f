import { randomBytes } from 'node:crypto';
import type { ConversationsListResponse, ConversationsMembersResponse } from '@slack/web-api';
import type { Sharing } from '../../commands/define.ts';
import { isPassingCode, SlackFailure } from '../../outbox/slack-port.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { type AnswerPlace, findSharedWords, offerShare, type ShareOutcome } from '../../views/share.ts';
import { readSlackError } from '../installations.ts';
import type { PostToResponseUrl } from './clients.ts';
import type { Respond, Route } from './responder.ts';
import { discardFiles, type Slack } from './slack-port.ts';

interface SharingOptions {
  readonly route: Pick<Route, 'responseUrl' | 'channelId'>;
  readonly slack: Slack;
  readonly postToResponseUrl: PostToResponseUrl;
  readonly tenant: string;
  /** Only channels that they see are found by name. */
  readonly userId: string;
  /** In an organization: whose channels are meant. */
  readonly teamId: string | undefined;
  readonly recall: Sharing['recall'];
  readonly claimOnce: (id: string) => Promise<boolean>;
  readonly release: (id: string) => Promise<void>;
  readonly log: Log;
}

// Pages of a thousand channels.
const maxPages = 5;

/** As the bot; by response_url where it was asked, if the bot may not write there. */
export function createSharing(options: SharingOptions): Sharing {
  const { route, slack, log } = options;

  const deliver: Sharing['post'] = async (message, { channel, threadTs: thread, files }) => {
    const id = randomBytes(8).toString('hex');
    // A file needs the post's own thread, which only the bot's message tells.
    const url = channel === route.channelId && files.length === 0 ? route.responseUrl : undefined;
    const posted = await slack.post(channel, message, { id, thread }).catch(async (error: unknown) => {
      const isRefused = error instanceof SlackFailure && error.outcome === 'refused';
      if (!isRefused || error.code === 'held_back' || url === undefined) throw error;
      log.info({ reason: error.code }, 'Slack refused a post, sharing by response_url');
      await options
        .postToResponseUrl(options.tenant, url, {
          text: message.text,
          blocks: message.blocks,
          response_type: 'in_channel',
          // Else the answer that holds the button would be overwritten.
          replace_original: false,
          ...(thread === undefined ? {} : { thread_ts: thread }),
        })
        .catch((failure: unknown) => {
          throw readSlackError(failure) === undefined ? failure : error;
        });
      return undefined;
    });
    if (!posted || files.length === 0) return 'posted';
    try {
      await slack.share(files, { channel, thread: thread ?? posted.ts });
      return 'posted';
    } catch (error) {
      log.warn({ channel, error }, 'cannot share the file of an answer');
      return 'post-only';
    }
  };

  /** Also undefined where Slack does not let the bot look. @throws where it may say it later. */
  const search = async <Found>(
    method: string,
    args: object,
    find: (page: ConversationsListResponse & ConversationsMembersResponse) => Found | undefined,
  ): Promise<Found | undefined> => {
    let read = 0;
    try {
      const client = await slack.client();
      for await (const page of client.paginate(method, { limit: 1000, ...args })) {
        read += 1;
        const found = find(page);
        if (found !== undefined || read === maxPages) return found;
      }
    } catch (error) {
      const reason = readSlackError(error);
      if (isPassingCode(reason)) throw error;
      log.info({ method, reason }, 'cannot look through channels');
    }
    return undefined;
  };

  const isMember = async (channel = ''): Promise<boolean> =>
    (await search(
      'conversations.members',
      { channel },
      ({ members }) => members?.includes(options.userId) || undefined,
    )) === true;

  return {
    recall: options.recall,
    async post(message, to) {
      const { once, channel, threadTs = '' } = to;
      const id = once === undefined ? undefined : `share:${once}:${channel}:${threadTs}`;
      if (id !== undefined && !(await options.claimOnce(id))) {
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
      const about = {
        types: 'public_channel,private_channel',
        exclude_archived: true,
        ...(options.teamId === undefined ? {} : { team_id: options.teamId }),
      };
      const found = await search('conversations.list', about, ({ channels }) =>
        channels?.find((channel) => channel.name === wanted),
      );
      return !found?.is_private || (await isMember(found.id)) ? found?.id : undefined;
    },
    async isSeen(channel) {
      const found = await slack.readChannel(channel);
      // Then the check of who reads there decides.
      if ('unknown' in found) return found.unknown !== 'channel_not_found';
      return !found.is_private || isMember(channel);
    },
    async hasBot(channel) {
      const found = await slack.readChannel(channel).catch(() => ({ unknown: 'no_answer' }));
      return 'unknown' in found || found.is_member !== false;
    },
    readAudience: (channel) =>
      slack.readAudience(channel).catch((error: unknown) => {
        if (error instanceof SlackFailure) return { unknown: error.code };
        throw error;
      }),
  };
}

/** Undefined = nothing was posted, and the failure explains itself. */
function explain(error: unknown): ShareOutcome | undefined {
  if (!(error instanceof SlackFailure)) return 'unknown';
  if (error.code === 'held_back') return undefined;
  return error.outcome === 'unknown' ? 'unknown' : { refused: error.code };
}

/** Answers offer *Share* where they stand, and are kept for it. */
export function withShare(
  respond: Respond,
  place: AnswerPlace,
  keep: (key: string, answer: Message) => void,
): Respond {
  return (message, as) => {
    if (findSharedWords(message) === undefined) return respond(message, as);
    const key = randomBytes(6).toString('hex');
    keep(key, message);
    return respond(offerShare(message, place, key), as);
  };
}
