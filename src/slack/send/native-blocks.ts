import { z } from 'zod';
import { createCache } from '../../lib/cache.ts';
import { dayMs } from '../../lib/time.ts';
import type { Log } from '../../telemetry/log.ts';
import type { MessageBlock } from '../../views/blocks/blocks.ts';
import type { Pressed } from '../../views/blocks/buttons.ts';
import { isNative, isTable, type NativeBlock, writeInWords } from '../../views/blocks/native.ts';
import { addNativeOffer } from '../../views/conversation.ts';
import { readSlackError } from '../installations.ts';

type NativeKind = 'chart' | 'table';

/** Then it is tried again: a plan may have changed. */
const trustedMs = 3 * dayMs;

/** A WeakMap would keep each message until the next full collection. */
const offerOf = Symbol('native offer');

/** Where charts and tables are refused, a button below the words shows them in the conversation with the bot. */
export function withNativeOffer(blocks: readonly MessageBlock[], repeats: Pressed): MessageBlock[] {
  return Object.assign([...blocks], { [offerOf]: repeats });
}

/** Sends words where Slack refuses charts and tables, and then at once for days in this tenant and method. */
export type SendNativeBlocks = <Content extends object, Sent>(
  way: { readonly tenant: string; readonly method: string },
  content: Content,
  send: (content: Content) => Promise<Sent>,
) => Promise<Sent>;

export type NativeBlocks = ReturnType<typeof createNativeBlocks>;

export function createNativeBlocks({
  log,
  now,
  onRefused,
}: {
  readonly log: Log;
  readonly now: () => Date;
  readonly onRefused?: (method: string) => void;
}) {
  const taken = createCache<boolean>({ now, maxEntries: 60_000, ttlMs: trustedMs });
  /** Whether Slack takes it; undefined = not tried lately. */
  const find = (tenant: string, method: string, kind: NativeKind): boolean | undefined =>
    taken.get(`${tenant} ${method} ${kind}`);

  const send: SendNativeBlocks = async ({ tenant, method }, content, sendOnce) => {
    const blocks = 'blocks' in content ? (content.blocks as readonly MessageBlock[] | undefined) : undefined;
    const native = blocks?.filter(isNative) ?? [];
    if (!blocks || native.length === 0) return sendOnce(content);
    const kinds = [...new Set(native.map(kindOf))];
    const sendWords = (replaced: readonly NativeKind[]) => {
      const words = blocks.map((block) =>
        isNative(block) && replaced.includes(kindOf(block)) ? writeInWords(block) : block,
      );
      const { [offerOf]: repeats } = blocks as { readonly [offerOf]?: Pressed };
      const isOffered = repeats && !kinds.some((kind) => find(tenant, 'chat.postMessage', kind) === false);
      const shown = replaced.includes('chart') ? 'chart' : 'table';
      return sendOnce({ ...content, blocks: isOffered ? addNativeOffer(words, shown, repeats) : words });
    };
    const replaced = kinds.filter((kind) => find(tenant, method, kind) === false);
    const left = kinds.filter((kind) => !replaced.includes(kind));
    const record = (isTaken: boolean): void => {
      for (const kind of left) taken.set(`${tenant} ${method} ${kind}`, isTaken);
    };
    try {
      const sent = await (replaced.length > 0 ? sendWords(replaced) : sendOnce(content));
      record(true);
      return sent;
    } catch (error) {
      if (readSlackError(error) !== 'invalid_blocks' || left.length === 0) throw error;
      const sent = await sendWords(kinds);
      // Only now the native blocks are known to be the reason.
      record(false);
      onRefused?.(method);
      log.warn(
        {
          method,
          blocks: native.map((one) => `${one.type}: ${isTable(one) ? one.caption : one.title}`),
          reasons: refusal.safeParse(error).data?.data.response_metadata.messages,
        },
        'Slack refused native blocks, sent words instead',
      );
      return sent;
    }
  };

  return {
    send,
    find,
    /** Has them tried again at once. */
    forget: (tenant?: string): void =>
      taken.drop((key) => tenant === undefined || key.startsWith(`${tenant} `)),
  };
}

function kindOf(block: NativeBlock): NativeKind {
  return isTable(block) ? 'table' : 'chart';
}

const refusal = z.object({
  data: z.object({ response_metadata: z.object({ messages: z.array(z.string()) }) }),
});
