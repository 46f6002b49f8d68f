import { checkMessage } from '../block-kit/checks.ts';
import { type StoredMessage } from '../messages.ts';
import { wireMessage } from '../payloads.ts';
import { type Channel, isObject, type Json, memberKey, textOf } from '../world.ts';
import {
  type ApiCall,
  assertChecked,
  blocksArg,
  channelOf,
  type Method,
  page,
  personOf,
  postingChannel,
  Refused,
  stringArg,
  textArg,
} from './call.ts';

const cutAt = 40_000;
const updateLimit = 4000;

/** chat.* and reactions.add. */
export const chatMethods: Record<string, Method> = {
  'chat.postMessage'(call) {
    const channel = postingChannel(call, stringArg(call, 'channel'));
    const content = contentOf(call, false);
    const message = call.sim.messages.post({
      ...content,
      text: content.text.slice(0, cutAt),
      channel: channel.id,
      user: call.install.botUserId,
      botId: call.install.botId,
      threadTs: threadOf(call),
      metadata: isObject(call.args['metadata']) ? call.args['metadata'] : undefined,
    });
    return { channel: channel.id, ts: message.ts, message: wireMessage(message, channel.teamId) };
  },

  'chat.postEphemeral'(call) {
    const channel = channelOf(call, stringArg(call, 'channel'));
    const userId = stringArg(call, 'user');
    const { person } = personOf(call, userId, 'user_not_in_channel');
    if (!channel.botIsMember) throw new Refused('not_in_channel');
    if (channel.archived) throw new Refused('is_archived');
    const member = memberKey(person.teamId, userId);
    if (!channel.members.has(member)) throw new Refused('user_not_in_channel');
    const threadTs = threadOf(call);
    // Slack shows nothing then, and still answers `ok`.
    if (threadTs !== undefined && !isActiveThread(call.sim.messages.history(channel.id, threadTs), threadTs))
      call.sim.problem(`chat.postEphemeral: ${threadTs} is no thread with replies, so nobody sees this`);
    const message = call.sim.messages.post({
      ...contentOf(call, true),
      channel: channel.id,
      user: call.install.botUserId,
      botId: call.install.botId,
      threadTs,
      ephemeralFor: member,
    });
    return { message_ts: message.ts };
  },

  'chat.update'(call) {
    const message = ownMessage(call, 'cant_update_message');
    if (call.sim.world.channels.get(message.channel)?.archived) throw new Refused('is_inactive');
    const text = textArg(call);
    if (text !== undefined && text.length > updateLimit) {
      call.sim.problem(`chat.update: text has ${text.length} characters, ${updateLimit} are allowed`);
      throw new Refused('msg_too_long');
    }
    const content = contentOf(call, false);
    call.sim.messages.update(message, {
      ...content,
      metadata: isObject(call.args['metadata']) ? call.args['metadata'] : undefined,
    });
    return {
      channel: message.channel,
      ts: message.ts,
      text: message.text,
      message: wireMessage(message, teamOf(call, message)),
    };
  },

  'chat.delete'(call) {
    const message = ownMessage(call, 'cant_delete_message');
    call.sim.messages.remove(message);
    return { channel: message.channel, ts: message.ts };
  },

  'chat.getPermalink'(call) {
    const channel = channelOf(call, stringArg(call, 'channel'));
    const ts = stringArg(call, 'message_ts');
    if (!call.sim.messages.find(channel.id, ts)) throw new Refused('message_not_found');
    const domain = call.sim.world.team(channel.teamId)?.domain ?? 'acme';
    return {
      channel: channel.id,
      permalink: `https://${domain}.slack.com/archives/${channel.id}/p${ts.replace('.', '')}`,
    };
  },

  'reactions.add'(call) {
    const channel = postingChannel(call, stringArg(call, 'channel'));
    const message = call.sim.messages.find(channel.id, stringArg(call, 'timestamp'));
    const name = stringArg(call, 'name');
    if (!message || message.ephemeralFor !== undefined) throw new Refused('message_not_found');
    if (message.reactions.includes(name)) throw new Refused('already_reacted');
    message.reactions.push(name);
    call.sim.changed();
    return {};
  },
};

/** The checked text and blocks of a message. */
function contentOf(call: ApiCall, ephemeral: boolean): { text: string; blocks: Json[] } {
  const blocks = blocksArg(call);
  const text = textArg(call);
  assertChecked(
    call,
    checkMessage(
      { ...call.args, blocks },
      { label: call.method, ephemeral, update: call.method === 'chat.update' },
    ),
  );
  const refused = call.sim.script.refuses(call.method, call.install.id, blocks ?? []);
  if (refused) throw new Refused('invalid_blocks', [refused]);
  const { markdown_text: markdown } = call.args;
  return { text: text ?? (typeof markdown === 'string' ? markdown : ''), blocks: blocks ?? [] };
}

/** The message a call changes: it must exist, be visible to all, and be the bot's own. */
function ownMessage(call: ApiCall, foreign: string): StoredMessage {
  const channel = channelOf(call, stringArg(call, 'channel'));
  const message = call.sim.messages.find(channel.id, stringArg(call, 'ts'));
  if (!message) throw new Refused('message_not_found');
  if (message.ephemeralFor !== undefined) {
    call.sim.problem(`${call.method}: an ephemeral message can only be changed through its response_url`);
    throw new Refused('message_not_found');
  }
  if (message.user !== call.install.botUserId) throw new Refused(foreign);
  return message;
}

function teamOf(call: ApiCall, message: StoredMessage): string {
  return call.sim.world.channels.get(message.channel)?.teamId ?? call.install.id;
}

/** Whether a timestamp is that of a first message with replies: the name of a thread. */
function isActiveThread(messages: readonly StoredMessage[], threadTs: string): boolean {
  return messages.some(({ ts }) => ts === threadTs) && messages.some(({ ts }) => ts !== threadTs);
}

function threadOf(call: ApiCall): string | undefined {
  const { thread_ts: thread } = call.args;
  return typeof thread === 'string' && thread !== '' ? thread : undefined;
}

/** conversations.history and conversations.replies: what the bot may read where it is a member. */
export const historyMethods: Record<string, Method> = {
  'conversations.history'(call) {
    const channel = readable(call);
    return answer(call, channel, call.sim.messages.history(channel.id));
  },
  'conversations.replies'(call) {
    const channel = readable(call);
    const found = call.sim.messages.history(channel.id, stringArg(call, 'ts'));
    if (found.length === 0) throw new Refused('thread_not_found');
    // Threads are read from the first message on.
    return answer(call, channel, found.toReversed());
  },
};

function readable(call: ApiCall): Channel {
  const channel = channelOf(call, stringArg(call, 'channel'));
  if (!channel.botIsMember) throw new Refused('not_in_channel');
  return channel;
}

function answer(
  call: ApiCall,
  { teamId }: Channel,
  found: ReturnType<ApiCall['sim']['messages']['history']>,
): Json {
  const oldest = Number(call.args['oldest'] ?? 0);
  const latest = Number(call.args['latest'] ?? Number.POSITIVE_INFINITY);
  const inside = found.filter(({ ts }) => Number(ts) > oldest && Number(ts) < latest);
  const withMetadata = textOf(call.args['include_all_metadata']) === 'true';
  const { items, response_metadata } = page(call, inside);
  return {
    messages: items.map((message) => {
      const { metadata, ...wire } = wireMessage(message, teamId);
      return withMetadata && metadata !== undefined ? { ...wire, metadata } : wire;
    }),
    has_more: response_metadata['next_cursor'] !== '',
    response_metadata,
  };
}
