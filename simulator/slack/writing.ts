import { randomUUID } from 'node:crypto';
import type { Exchange } from './delivery.ts';
import { deliverEvent } from './events.ts';
import type { StoredMessage } from './messages.ts';
import type { Who } from './payloads.ts';
import { keyOf } from './places.ts';
import type { Simulation } from './simulation.ts';
import type { Channel, Json } from './world.ts';

/** A message as a person writes it; text as Slack keeps it: `<@U…>`, `<https://…>`, `&amp;`. */
export interface Written {
  readonly channel: string;
  readonly text: string;
  /** The first message of the thread it is written in. */
  readonly thread?: string | undefined;
  readonly blocks?: Json[] | undefined;
  readonly attachments?: Json[] | undefined;
  /** With a file, "also send to channel", or written with `/me`. */
  readonly subtype?: 'file_share' | 'thread_broadcast' | 'me_message' | undefined;
}

/**
 * Posts a person's message. The app hears of it by an event where it is mentioned in a channel that it is in
 * (`app_mention`), and in the conversation with it (`message.im`), if it has the scope for that.
 *
 * Shapes: https://docs.slack.dev/reference/events/app_mention, https://docs.slack.dev/reference/events/message.im
 */
export function write(
  sim: Simulation,
  who: Who,
  { channel: id, text, thread, blocks, attachments, subtype }: Written,
): { readonly message: StoredMessage; readonly heard: Promise<Exchange | undefined> } {
  const channel = sim.world.channels.get(id);
  if (!channel) throw new Error(`There is no channel ${id}`);
  const message = sim.messages.post({
    channel: id,
    user: who.person.id,
    text,
    threadTs: thread,
    ...(blocks ? { blocks } : {}),
    ...(attachments ? { attachments } : {}),
  });
  return { message, heard: deliver(sim, who, channel, message, subtype) };
}

async function deliver(
  sim: Simulation,
  who: Who,
  channel: Channel,
  message: StoredMessage,
  subtype: Written['subtype'],
): Promise<Exchange | undefined> {
  const { install, person } = who;
  const isDirect = channel.kind === 'dm';
  const isMentioned = new RegExp(`<@${install.botUserId}[>|]`, 'u').test(message.text);
  if (!install.active || (!isDirect && !isMentioned)) return undefined;
  if (install.lacks.has(isDirect ? 'im:history' : 'app_mentions:read')) return undefined;
  if (!isDirect && !channel.botIsMember) {
    const key = keyOf(who);
    const said = `You mentioned @cdn, but they’re not in this channel.`;
    sim.notices.set(key, [...(sim.notices.get(key) ?? []), said]);
    sim.changed();
    return undefined;
  }
  const parent = message.threadTs === undefined ? undefined : sim.messages.find(channel.id, message.threadTs);
  const event = {
    type: isDirect ? 'message' : 'app_mention',
    user: person.id,
    text: message.text,
    ts: message.ts,
    ...(subtype === undefined ? {} : { subtype }),
    ...(subtype === 'file_share' ? { files: [{ id: 'F0SHARED0', name: 'screen.png' }] } : {}),
    client_msg_id: randomUUID(),
    team: person.teamId,
    ...(channel.shared ? { user_team: person.teamId, source_team: person.teamId } : {}),
    blocks: message.blocks.length > 0 ? message.blocks : [richText(message.text)],
    ...(message.threadTs === undefined
      ? {}
      : { thread_ts: message.threadTs, ...(parent ? { parent_user_id: parent.user } : {}) }),
    channel: channel.id,
    event_ts: message.ts,
    ...(isDirect ? { channel_type: 'im' } : {}),
  };
  return deliverEvent(sim, event, { teamId: channel.teamId });
}

/** What people type reaches apps as `rich_text` too. */
function richText(text: string): Json {
  const section = { type: 'rich_text_section', elements: [{ type: 'text', text }] };
  return { type: 'rich_text', block_id: 'typed', elements: [section] };
}

/** Plain text as Slack keeps it: its three characters escaped, links and bare hostnames marked, `@cdn` a mention. */
export function escapeTyped(typed: string, botUserId: string): string {
  return typed
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/https?:\/\/[^\s]+/gu, '<$&>')
    .replaceAll(/(?<=^|\s)(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev)(?=\s|$)/gu, '<http://$&|$&>')
    .replaceAll(/(?<=^|\s)@cdn\b/giu, `<@${botUserId}>`);
}
