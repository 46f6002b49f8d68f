import type { WebClient } from '@slack/web-api';
import { minuteMs } from '../../lib/time.ts';
import { type FindWhere, type Marker, type Posted, SlackFailure } from '../../outbox/slack-port.ts';

// A busy channel has some hundred messages in the minutes that are looked through; more and nobody can say.
const pageSize = 200;
const mostPages = 5;
// `since` is told by our clock, messages by Slack's.
const clocksMs = 2 * minuteMs;

/**
 * The bot's message with this marker, in a channel or a thread, not older than `since` and what clocks differ by. Messages that others copied the
 * marker into do not count: metadata can be written by every app of the channel.
 *
 * @throws what Slack answers, and SlackFailure `too_much` where the end was not reached.
 */
export async function findMarked(
  client: WebClient,
  marker: Marker,
  { channel, since, thread }: FindWhere,
): Promise<Posted | undefined> {
  const { bot_id: own, response_metadata: about } = await client.auth.test();
  // Slack may leave metadata out for whoever lacks the scope, without a word: then nothing found says nothing.
  if (about?.scopes && !about.scopes.includes('metadata.message:read'))
    throw new SlackFailure('refused', 'missing_scope');
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const asked = {
      channel,
      oldest: (Math.max(0, since.getTime() - clocksMs) / 1000).toFixed(6),
      include_all_metadata: true,
      limit: pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    };
    const answer =
      thread === undefined
        ? await client.conversations.history(asked)
        : await client.conversations.replies({ ...asked, ts: thread });
    for (const { bot_id: bot, metadata, ts } of answer.messages ?? []) {
      if (bot === own && ts !== undefined && carries(metadata, marker)) return { channel, ts };
    }
    cursor = answer.response_metadata?.next_cursor || undefined;
    if (cursor === undefined) return undefined;
  }
  throw new SlackFailure('refused', 'too_much');
}

function carries(metadata: unknown, { type, payload }: Marker): boolean {
  if (typeof metadata !== 'object' || metadata === null) return false;
  const { event_type: seen, event_payload: held } = metadata as Record<string, unknown>;
  if (seen !== type || typeof held !== 'object' || held === null) return false;
  return Object.entries(payload).every(([name, value]) => (held as Record<string, unknown>)[name] === value);
}
