import { createFileScanner, findSecretKinds } from '../../secrets/scanner.ts';
import { type Log, makeReference } from '../../telemetry/log.ts';
import { section } from '../../views/blocks/blocks.ts';
import { modal, option } from '../../views/blocks/inputs.ts';

/** The way by which something was about to leave. */
type Sink = 'slack' | 'response_url' | 'acknowledgement' | 'http' | 'cdn' | 'file';

/** Something was not sent because it held a live secret. It is already logged under the reference. */
export class SecretLeakBlocked extends Error {
  override readonly name = 'SecretLeakBlocked';
  readonly sink: Sink;
  readonly reference: string;

  constructor(sink: Sink, reference: string) {
    super(`blocked on its way to ${sink}: it held a secret`);
    this.sink = sink;
    this.reference = reference;
  }
}

/** Shown instead of a blocked answer. */
export const isBlocked = {
  message: 'This answer was held back: it would have shown a secret.',
  hint: 'Nothing of it was sent. Tell whoever runs this bot the reference below.',
} as const;

/** The secret that requests to these origins may carry. */
interface AllowedDestination {
  readonly origins: readonly string[];
  /** The header that carries the key or token there. */
  readonly header: string;
  /** Whether the body may carry it too. */
  readonly body?: (url: URL) => boolean;
}

/** The only check on everything that leaves: whatever holds a live secret, in any encoding, is blocked. */
export interface Egress {
  /** `call` is for the log, such as the method. @throws SecretLeakBlocked */
  check(sink: Sink, content: unknown, call?: string): void;
  /** The acknowledgement to send: the given one, or one of the same form that says it was held back. */
  acknowledgement(reply: unknown): unknown;
  /** A `fetch` that rejects with SecretLeakBlocked before anything is sent. */
  fetch(sink: Sink, fetch: typeof globalThis.fetch, allowed?: AllowedDestination): typeof globalThis.fetch;
  /** Logs that live secrets of these kinds were blocked. Returns the error to throw. */
  block(sink: Sink, kinds: readonly string[]): SecretLeakBlocked;
  /** Checks a file piece by piece, in order. @throws SecretLeakBlocked */
  file(): (piece: Uint8Array) => void;
  /** The sentence to send instead of a blocked text; undefined if the text may leave. */
  replacement(sink: Sink, content: unknown): string | undefined;
}

export function createEgress({ log }: { log: Log }): Egress {
  const find = (sink: Sink, content: unknown, call?: string): SecretLeakBlocked | undefined => {
    const kinds = findSecretKinds(textOf(content));
    return kinds.length === 0 ? undefined : block(sink, kinds, call);
  };
  const block = (sink: Sink, kinds: readonly string[], call?: string): SecretLeakBlocked => {
    const reference = makeReference();
    log.error({ reference, sink, call, kinds }, 'blocked a secret on its way out');
    return new SecretLeakBlocked(sink, reference);
  };
  const check = (sink: Sink, content: unknown, call?: string): void => {
    const blocked = find(sink, content, call);
    if (blocked) throw blocked;
  };

  return {
    check,
    acknowledgement(reply) {
      if (reply === undefined || reply === '') return reply;
      const blocked = find('acknowledgement', reply);
      return blocked ? toHeldBackReply(reply, blocked.reference) : reply;
    },
    fetch(sink, fetch, allowed) {
      return async (input, init) => {
        const url = new URL(input instanceof Request ? input.url : input);
        const exempt = allowed?.origins.includes(url.origin) ? allowed : undefined;
        check(sink, [url.href, ...url.searchParams.values(), ...headersOf(input, init, exempt?.header)]);
        if (!exempt?.body?.(url)) check(sink, init?.body);
        return fetch(input, init);
      };
    },
    block,
    file() {
      const scan = createFileScanner();
      return (piece) => {
        const kinds = scan(piece);
        if (kinds.length > 0) throw block('file', kinds);
      };
    },
    replacement(sink, content) {
      const blocked = find(sink, content);
      return blocked && `${isBlocked.message} Reference ${blocked.reference}`;
    },
  };
}

/** Slack accepts an acknowledgement only in the form of what it acknowledges. */
function toHeldBackReply(reply: unknown, reference: string): unknown {
  const text = `${isBlocked.message} Reference ${reference}`;
  if (typeof reply !== 'object' || reply === null) return text;
  if ('options' in reply || 'option_groups' in reply)
    return { options: [option(`Held back: it would have shown a secret. ${reference}`, 'note')] };
  if (!('response_action' in reply)) return { response_type: 'ephemeral', text };
  return { response_action: 'update', view: modal({ title: 'Held back' }, [section(text)]) };
}

/** All texts of a value, joined. Streams and forms have their own checks. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const texts: string[] = [];
  collect(content, texts);
  return texts.join('\n');
}

function collect(value: unknown, texts: string[]): void {
  if (typeof value === 'string') texts.push(value);
  else if (typeof value === 'number' || typeof value === 'bigint') texts.push(String(value));
  else if (typeof value !== 'object' || value === null) return;
  else if (ArrayBuffer.isView(value))
    texts.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1'));
  else if (value instanceof URLSearchParams) texts.push(...value.values());
  else if (Array.isArray(value)) for (const item of value) collect(item, texts);
  else if ('toJSON' in value && typeof value.toJSON === 'function') collect(value.toJSON(), texts);
  else
    for (const [name, member] of Object.entries(value)) {
      texts.push(name);
      collect(member, texts);
    }
}

function headersOf(input: unknown, init: RequestInit | undefined, except: string | undefined): string[] {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
  return [...headers].flatMap(([name, value]) => (name === except ? [] : [value]));
}
