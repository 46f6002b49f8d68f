import { z } from 'zod';
import { createCache } from '../../lib/cache.ts';
import { dayMs } from '../../lib/time.ts';
import type { Log } from '../../telemetry/log.ts';
import type { MessageBlock } from '../../views/blocks/blocks.ts';
import type { Pressed } from '../../views/blocks/buttons.ts';
import { isNative, isTable, type NativeBlock, writeInWords } from '../../views/blocks/native.ts';
import { addNativeOffer } from '../../views/conversation.ts';
import { readSlackError } from '../installations.ts';

type Kind = 'chart' | 'table';

interface Seen {
  readonly method: string;
  readonly kind: Kind;
  readonly taken: boolean;
}

/** Then it is tried again: a plan may have changed. */
const trustedMs = 3 * dayMs;

export type NativeSupport = ReturnType<typeof createNativeSupport>;

export function createNativeSupport({ now }: { readonly now: () => Date }) {
  const known = createCache<ReadonlyMap<string, Seen>>({ now, maxEntries: 10_000, ttlMs: trustedMs });
  return {
    list: (tenant: string): Seen[] => [...(known.get(tenant)?.values() ?? [])],
    isRefused: (tenant: string, method: string, kind: Kind): boolean =>
      known.get(tenant)?.get(`${method} ${kind}`)?.taken === false,
    record(tenant: string, seen: Seen): void {
      const own = [`${seen.method} ${seen.kind}`, seen] as const;
      known.set(tenant, new Map([...(known.get(tenant) ?? []), own]));
    },
    forget: (tenant?: string): void => known.drop(tenant ?? (() => true)),
  };
}

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

export function createNativeBlocks({
  log,
  support,
  onRefused,
}: {
  readonly log: Log;
  readonly support: NativeSupport;
  readonly onRefused?: (method: string) => void;
}): SendNativeBlocks {
  return async ({ tenant, method }, content, send) => {
    const blocks = 'blocks' in content ? (content.blocks as readonly MessageBlock[] | undefined) : undefined;
    const native = blocks?.filter(isNative) ?? [];
    if (!blocks || native.length === 0) return send(content);
    const kinds = [...new Set(native.map(kindOf))];
    const sendWords = (replaced: readonly Kind[]) => {
      const words = blocks.map((block) =>
        isNative(block) && replaced.includes(kindOf(block)) ? writeInWords(block) : block,
      );
      const { [offerOf]: repeats } = blocks as { readonly [offerOf]?: Pressed };
      const isOffered = repeats && !kinds.some((kind) => support.isRefused(tenant, 'chat.postMessage', kind));
      const shown = replaced.includes('chart') ? 'chart' : 'table';
      return send({ ...content, blocks: isOffered ? addNativeOffer(words, shown, repeats) : words });
    };
    const replaced = kinds.filter((kind) => support.isRefused(tenant, method, kind));
    const left = kinds.filter((kind) => !replaced.includes(kind));
    const record = (taken: boolean): void => {
      for (const kind of left) support.record(tenant, { method, kind, taken });
    };
    try {
      const sent = await (replaced.length > 0 ? sendWords(replaced) : send(content));
      record(true);
      return sent;
    } catch (error) {
      if (readSlackError(error) !== 'invalid_blocks' || left.length === 0) throw error;
      const sent = await sendWords(kinds);
      // Only now the native blocks are known to be the reason.
      record(false);
      onRefused?.(method);
      log.warn(
        { method, blocks: native.map(describe), reasons: readReasons(error) },
        'Slack refused native blocks, sent words instead',
      );
      return sent;
    }
  };
}

function kindOf(block: NativeBlock): Kind {
  return isTable(block) ? 'table' : 'chart';
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
