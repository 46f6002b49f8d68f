import { z } from 'zod';
import { refusePastedKey } from '../../commands/connect.ts';
import { isConversation } from '../send/responder.ts';
import { describeTyped, findTyped } from './handlers.ts';
import { createModalFlow } from './modals.ts';
import { perform, type ReadFacts, type SlackDeps } from './perform.ts';

const absent = z.undefined();

/**
 * A message that a person writes to the bot: a mention in a channel or thread, or a line in the conversation with it.
 * The bot's own messages, those of other bots, edits and Slack's own (`subtype`) are none. With a file, with "also send to
 * channel" and with `/me` a person speaks as well.
 */
const writtenMessage = z.object({
  event_id: z.string(),
  authorizations: z.array(z.object({ user_id: z.string().optional() })).optional(),
  event: z.object({
    type: z.enum(['app_mention', 'message']),
    channel: z.string().min(1),
    channel_type: z.string().optional(),
    user: z.string().min(1),
    text: z.string(),
    thread_ts: z.string().min(1).optional(),
    bot_id: absent.optional(),
    subtype: z.enum(['file_share', 'thread_broadcast', 'me_message']).optional(),
    edited: absent.optional(),
    hidden: absent.optional(),
  }),
});

/**
 * Runs what a person wrote to the bot, already acknowledged: like `/cdn …`, but without a trigger, so that a form opens by
 * a button, and without a response_url. A mention is answered privately where it stands, in its thread too; a line in the
 * conversation with the bot by a message there.
 */
export async function runMessage(deps: SlackDeps, body: object): Promise<void> {
  const seen = writtenMessage.safeParse(body).data;
  if (!seen) return;
  const { type, user, channel, channel_type: kind, text, thread_ts: threadTs } = seen.event;
  const botUserId = seen.authorizations?.[0]?.user_id;
  if (user === botUserId) return;
  const isDirect = kind === 'im' || isConversation(channel);
  // Of the messages of channels the bot hears its mentions only.
  if (type === 'message' && !isDirect) return;
  const { words, others } = splitWritten(text, botUserId);
  await perform(deps, { kind: 'message', body, claim: seen.event_id }, async (facts) => {
    const typed = await findWritten(facts, words, others);
    return {
      ...describeTyped(deps, body, typed, words),
      ...createModalFlow(typed.command, typed.words, {
        triggerId: undefined,
        place: { channelId: channel, threadTs },
        written: words,
      }),
      route: {
        channelId: channel,
        threadTs,
        inConversation: isDirect ? { channel, threadTs } : undefined,
      },
    };
  });
}

/** Finds the command in `words`. A key anywhere in the message is refused, like one behind the command. */
async function findWritten(facts: ReadFacts, words: string, others: string) {
  if (others === '') return findTyped(facts, words);
  const whole = await findTyped(facts, `${words} ${others}`);
  return whole.command === refusePastedKey ? whole : findTyped(facts, words);
}

const anyMention = /<@[UW][A-Z0-9]+(?:\|[^<>]*)?>/u;

/**
 * The command of a message, without the mention of the bot and `/cdn`: the line behind the mention, else the one before
 * it. `others` is the rest of what was written.
 */
function splitWritten(text: string, botUserId: string | undefined): { words: string; others: string } {
  const mention = botUserId === undefined ? anyMention : new RegExp(`<@${botUserId}(?:\\|[^<>]*)?>`, 'u');
  const [before = '', after] = splitOnce(text, mention);
  const lines = [after ?? '', before].flatMap((part) =>
    part.split('\n').map((line) =>
      line
        .trim()
        .replace(/^```|```$/gu, '')
        .trim(),
    ),
  );
  const [line = '', ...others] = lines.filter((one) => one !== '');
  return { words: stripDecoration(line), others: others.join(' ') };
}

/** Before a line: bullets, numbers, quotes (Slack escapes `>`), arrows, emoji, other people, a greeting, the bot’s own name. */
const before = new RegExp(
  [
    '(?:[-*•◦▪–—#→➜]|\\d{1,2}[.)]|[a-z]\\))\\s+',
    '(?:&gt;|>|:[\\w+-]+:|\\p{Extended_Pictographic}|\\uFE0F|[,:;])+\\s*',
    '<@[UW][A-Z0-9]+(?:\\|[^<>]*)?>[\\s,:]*',
    '[/@]?cdn(?:[\\s,:]+|$)',
    '(?:hey|hi|hello|ok|okay|please|pls|(?:can|could|would) you)[\\s,:]+(?=\\S)',
  ]
    .map((one) => `^${one}`)
    .join('|'),
  'iu',
);
/** Behind a line: thanks, and the end of a sentence. */
const behind = /[\s,]+(?:please|pls|thanks|thank you|thx)[.!]*$|(?<=[^\s.!?,;])[.!?,;]+$/iu;
/** Code and quotes around a line; bold, italics and strikethrough around some of its words. */
const around =
  /^(?:(?<mark>```|`|'|")(?<inner>[^`'"]+)\k<mark>|[“„](?<curly>[^“”„]+)[”“]|«(?<angle>[^«»]+)»)$/u;
const emphasis = /(?<=^|\s)(?<mark>[*_~]+)(?<inner>[^\s*~](?:[^*~]*[^\s*~])?)\k<mark>(?=[\s,!?]|$)/gu;

/** What is typed in a line: people address the bot, greet it, and write in lists, quotes, bold or code. */
function stripDecoration(line: string): string {
  let words = line;
  for (let last = ''; last !== words; ) {
    last = words;
    words = words
      .replace(before, '')
      .replace(around, '$<inner>$<curly>$<angle>')
      .replace(emphasis, '$<inner>')
      .replace(behind, '')
      // `errors, shop`, `errors: shop`
      .replace(/^([a-z]+)[,:;]\s+/iu, '$1 ')
      .trim();
  }
  return words;
}

function splitOnce(text: string, by: RegExp): string[] {
  const found = by.exec(text);
  return found ? [text.slice(0, found.index), text.slice(found.index + found[0].length)] : [text];
}
