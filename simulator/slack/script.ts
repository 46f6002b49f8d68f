import type { Installs } from './installs.ts';
import { type Json, textOf } from './world.ts';

/** Scripted failures by method: `chat.postMessage`, `response_url`, `files.upload`, or `*` for all. */
export interface ScriptControls {
  /** The next calls answer HTTP 429 with Retry-After in seconds. */
  rateLimit(method: string, retryAfterSeconds: number, times?: number): void;
  /** The next calls (whose arguments contain `text`) answer `{ok: false, error}`, or with a status where one is given. */
  fail(method: string, error: string, times?: number, status?: number, text?: string): void;
  /** No scripted failure is left. */
  clear(): void;
  /** The next calls are answered later. */
  delay(method: string, ms: number, times?: number): void;
  /** The next calls are carried out, then the connection is reset. */
  drop(method: string, times?: number): void;
  /** From now on messages with a chart or table are refused by these methods, as some plans do; none lifts it. */
  refuseNativeBlocks(methods: readonly string[], installation?: string): void;
  /** From now on an installation (acme's without one) lacks these scopes and no others: their events and methods fail. */
  withholdScopes(scopes: readonly string[], installation?: string): void;
  /**
   * The next call (whose arguments contain `text`) stops before it is carried out, or after it and before its answer,
   * until it is released.
   */
  hold(method: string, when: 'before' | 'after', text?: string): Held;
}

export interface Held {
  /** A call is there. */
  readonly reached: Promise<void>;
  release(): void;
}

interface Interference {
  status: number;
  retryAfter?: number;
  error: string;
}

export interface Script {
  readonly controls: ScriptControls;
  /** Waits where a delay is due; then what to answer instead of doing the call, if anything. */
  readonly interfere: (method: string, args?: Json) => Promise<Interference | undefined>;
  /** Waits where the answer to a call that was carried out is held back. */
  readonly answering: (method: string, args?: Json) => Promise<void>;
  /** Slack's sentence about the first block that this method of the installation refuses, if any. */
  readonly refuses: (method: string, installation: string, blocks: readonly Json[]) => string | undefined;
  /** Whether the connection of this call is to be reset after it was carried out. */
  drops(method: string): boolean;
}

interface Entry {
  method: string;
  kind: 'answer' | 'delay' | 'drop' | 'hold-before' | 'hold-after';
  times: number;
  answer?: Interference;
  ms?: number;
  /** Only a call whose arguments contain this. */
  text?: string | undefined;
  reached?: () => void;
  until?: Promise<void>;
}

const nativeBlocks = new Set<unknown>(['data_visualization', 'data_table']);

export function createScript(installs: Installs): Script {
  let entries: Entry[] = [];
  const refusals = new Map<string, readonly string[]>();
  const take = (method: string, kind: Entry['kind'], args?: Json): Entry | undefined => {
    const found = entries.find(
      (entry) =>
        entry.kind === kind &&
        (entry.method === '*' || entry.method === method) &&
        (entry.text === undefined || JSON.stringify(args ?? {}).includes(entry.text)),
    );
    if (found) found.times -= 1;
    entries = entries.filter((entry) => entry.times > 0);
    return found;
  };
  return {
    controls: {
      rateLimit(method, retryAfter, times = 1) {
        entries.push({
          method,
          kind: 'answer',
          times,
          answer: { status: 429, retryAfter, error: 'ratelimited' },
        });
      },
      fail(method, error, times = 1, status = 200, text) {
        entries.push({ method, kind: 'answer', times, answer: { status, error }, text });
      },
      clear() {
        entries = [];
      },
      delay(method, ms, times = 1) {
        entries.push({ method, kind: 'delay', times, ms });
      },
      drop(method, times = 1) {
        entries.push({ method, kind: 'drop', times });
      },
      refuseNativeBlocks(methods, installation = '*') {
        refusals.set(installation, methods);
      },
      withholdScopes(scopes, installation = 'T0ACME000') {
        const lacks = installs.byId(installation)?.lacks;
        lacks?.clear();
        for (const scope of scopes) lacks?.add(scope);
      },
      hold(method, when, text) {
        const reached = Promise.withResolvers<void>();
        const released = Promise.withResolvers<void>();
        entries.push({
          method,
          kind: `hold-${when}`,
          times: 1,
          text,
          reached: reached.resolve,
          until: released.promise,
        });
        return { reached: reached.promise, release: released.resolve };
      },
    },
    async answering(method, args) {
      const held = take(method, 'hold-after', args);
      held?.reached?.();
      await held?.until;
    },
    async interfere(method, args) {
      const held = take(method, 'hold-before', args);
      held?.reached?.();
      await held?.until;
      const delay = take(method, 'delay');
      if (delay) await new Promise<void>((resolve) => void setTimeout(resolve, delay.ms));
      return take(method, 'answer', args)?.answer;
    },
    refuses(method, installation, blocks) {
      const methods = refusals.get(installation) ?? refusals.get('*') ?? [];
      if (!methods.includes(method) && !methods.includes('*')) return undefined;
      const at = blocks.findIndex(({ type }) => nativeBlocks.has(type));
      return at < 0
        ? undefined
        : `[ERROR] unsupported type: ${textOf(blocks[at]?.['type'])} [json-pointer:/blocks/${at}]`;
    },
    drops: (method) => take(method, 'drop') !== undefined,
  };
}
