import { textOf } from '../json.ts';
import { wireMessage } from '../payloads.ts';
import type { Channel, Json } from '../world.ts';
import { type ApiCall, channelOf, type Method, page, Refused, stringArg } from './call.ts';

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
