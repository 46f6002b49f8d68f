import { z } from 'zod';
import { createCache } from '../../lib/cache.ts';
import { hourMs } from '../../lib/time.ts';
import type { Log } from '../../telemetry/log.ts';
import type { MessageBlock } from '../../views/blocks/blocks.ts';
import { isNative, isTable, type NativeBlock, replaceNativeBlocks } from '../../views/blocks/native.ts';
import { addNativeOffer } from '../../views/conversation.ts';
import { readSlackError } from '../installations.ts';

/** The charts and tables of a private answer, offered where they are refused: in the person's conversation with the bot. */
export interface NativeOffer {
  /** The action and value that show the same. */
  readonly repeats: { readonly actionId: string; readonly value: string };
  /** The installation by which messages go into that conversation. */
  readonly installation: () => Promise<string>;
}

const offers = new WeakMap<readonly MessageBlock[], NativeOffer>();

/** The same blocks; where their charts and tables are refused, a button beside the words makes the offer. */
export function withNativeOffer(blocks: readonly MessageBlock[], offer: NativeOffer): MessageBlock[] {
  const own = [...blocks];
  offers.set(own, offer);
  return own;
}

/**
 * Sends `content` by `send`. Where Slack refuses its charts and tables, the same goes out once more with words in their place, and
 * the next hour's content for this installation and method at once.
 *
 * Some plans, and perhaps response_url, refuse them with `invalid_blocks`, which refuses the whole message.
 */
export type SendNativeBlocks = <Content extends object, Sent>(
  way: { readonly installation: string; readonly method: string },
  content: Content,
  send: (content: Content) => Promise<Sent>,
) => Promise<Sent>;

export function createNativeBlocks({
  log,
  now,
  onRefused,
}: {
  readonly log: Log;
  readonly now: () => Date;
  /** Called with the method by which they were refused. */
  readonly onRefused?: (method: string) => void;
}): SendNativeBlocks {
  const refused = createCache<true>({ now, maxEntries: 10_000, ttlMs: hourMs });
  const isRefusedThere = async ({ installation }: NativeOffer): Promise<boolean> =>
    refused.get(`chat.postMessage ${await installation()}`) === true;
  return async ({ installation, method }, content, send) => {
    const blocks = 'blocks' in content ? (content.blocks as readonly MessageBlock[] | undefined) : undefined;
    const native = blocks?.filter(isNative) ?? [];
    if (!blocks || native.length === 0) return send(content);
    const sendWords = async () => {
      const words = replaceNativeBlocks(blocks);
      const offer = offers.get(blocks);
      const isOffered = offer && !(await isRefusedThere(offer));
      const kind = native.every(isTable) ? 'table' : 'chart';
      return send({ ...content, blocks: isOffered ? addNativeOffer(words, kind, offer.repeats) : words });
    };
    const key = `${method} ${installation}`;
    if (refused.get(key)) return sendWords();
    try {
      return await send(content);
    } catch (error) {
      if (readSlackError(error) !== 'invalid_blocks') throw error;
      const sent = await sendWords();
      // Only now is it known that the native blocks were the reason.
      refused.set(key, true);
      onRefused?.(method);
      log.warn(
        { method, blocks: native.map(describe), reasons: readReasons(error) },
        'Slack refused native blocks, sent words instead',
      );
      return sent;
    }
  };
}

function describe(block: NativeBlock): string {
  return `${block.type}: ${isTable(block) ? block.caption : block.title}`;
}

const refusal = z.object({
  data: z.object({ response_metadata: z.object({ messages: z.array(z.string()) }) }),
});

function readReasons(error: unknown): string[] | undefined {
  return refusal.safeParse(error).data?.data.response_metadata.messages;
}
