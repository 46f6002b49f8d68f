import { SecretLeakBlocked } from '../../errors.ts';
import { createFileScanner, findSecretKinds, redactDoubtful, textOf } from '../../secrets/scanner.ts';
import type { Log } from '../../telemetry/log.ts';
import { makeReference } from '../../telemetry/reference.ts';
import { section } from '../../views/blocks/blocks.ts';
import { modal, option } from '../../views/blocks/inputs.ts';

type Sink = 'slack' | 'response_url' | 'acknowledgement' | 'http' | 'cdn' | 'file';

export const isBlocked = {
  message: 'This answer was held back: it would have shown a secret.',
  hint: 'None of it was sent. Send the reference below to the team that runs this bot.',
} as const;

export type Egress = ReturnType<typeof createEgress>;

/** The only check on everything that leaves: a live key or token in any encoding is blocked. */
export function createEgress({ log }: { log: Log }) {
  const block = (sink: Sink, kinds: readonly string[], call?: string): SecretLeakBlocked => {
    const reference = makeReference();
    log.error({ reference, sink, call, kinds }, 'blocked a secret on its way out');
    return new SecretLeakBlocked(sink, reference);
  };
  const find = (sink: Sink, content: unknown, call?: string): SecretLeakBlocked | undefined => {
    const kinds = findSecretKinds(textOf(content));
    return kinds.length === 0 ? undefined : block(sink, kinds, call);
  };
  /** `call` is for the log. @throws SecretLeakBlocked */
  const check = (sink: Sink, content: unknown, call?: string): void => {
    const blocked = find(sink, content, call);
    if (blocked) throw blocked;
  };

  return {
    block,
    check,
    /** The given acknowledgement, or one of the same form that says it was held back. */
    acknowledgement(reply: unknown): unknown {
      if (reply === undefined || reply === '') return reply;
      const blocked = find('acknowledgement', reply);
      return blocked ? toHeldBackReply(reply, blocked.reference) : redactDoubtful(reply);
    },
    fetch(
      sink: Sink,
      fetch: typeof globalThis.fetch,
      /** Origins to which `header`, and `body` where it says so, may carry a secret. */
      allowed: {
        readonly origins: readonly string[];
        readonly header: string;
        readonly body?: (url: URL) => boolean;
      },
    ): typeof globalThis.fetch {
      return async (input, init) => {
        const url = new URL(input instanceof Request ? input.url : input);
        const exempt = allowed.origins.includes(url.origin) ? allowed : undefined;
        check(sink, [url.href, ...url.searchParams.values(), ...headersOf(input, init, exempt?.header)]);
        if (!exempt?.body?.(url)) check(sink, init?.body);
        return fetch(input, init);
      };
    },
    /** Checks a file piece by piece, in order. @throws SecretLeakBlocked */
    file() {
      const scan = createFileScanner();
      return (piece: Uint8Array): void => {
        const kinds = scan(piece);
        if (kinds.length > 0) throw block('file', kinds);
      };
    },
    /** The sentence instead of a blocked text; undefined if it may leave. */
    replacement(sink: Sink, content: unknown): string | undefined {
      const blocked = find(sink, content);
      return blocked && `${isBlocked.message} Reference ${blocked.reference}`;
    },
  };
}

/** It must have the form of what it acknowledges. */
function toHeldBackReply(reply: unknown, reference: string): unknown {
  const text = `${isBlocked.message} Reference ${reference}`;
  if (typeof reply !== 'object' || reply === null) return text;
  if ('options' in reply)
    return { options: [option(`Held back: it would have shown a secret. ${reference}`, 'note')] };
  if (!('response_action' in reply)) return { response_type: 'ephemeral', text };
  return { response_action: 'update', view: modal({ title: 'Held back' }, [section(text)]) };
}

function headersOf(input: unknown, init: RequestInit | undefined, except: string | undefined): string[] {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
  return [...headers].flatMap(([name, value]) => (name === except ? [] : [value]));
}
