import { createFileScanner, findSecretKinds } from '../../secrets/scanner.ts';
import { type Log, makeReference } from '../../telemetry/log.ts';

/** Where something was about to leave. */
export type Sink = 'slack' | 'response_url' | 'acknowledgement' | 'http' | 'cdn' | 'file';

/** Something was not sent, since a live secret was in it. The log has it under the reference already. */
export class SecretLeakBlocked extends Error {
  override readonly name = 'EgressStopped';
  readonly sink: Sink;
  readonly reference: string;

  constructor(sink: Sink, reference: string) {
    super(`stopped on its way to ${sink}: a secret was in it`);
    this.sink = sink;
    this.reference = reference;
  }
}

/** What a person reads instead. */
export const isBlocked = {
  message: 'This answer was held back: it would have shown a secret.',
  hint: 'Nothing of it was sent. Tell whoever runs this bot the reference below.',
} as const;

/** What may pass in requests to these origins, and to no others. */
export interface AllowedDestination {
  readonly origins: readonly string[];
  /** The header that carries the key or token there. */
  readonly header: string;
  /** Whether the body is what the secret is sent in. */
  readonly body?: (url: URL) => boolean;
}

/** The one check on everything that leaves (DESIGN §7): a live secret in it, in any spelling, and it does not. */
export interface Egress {
  /** `call` is a word for the log, such as the method. @throws EgressStopped */
  check(sink: Sink, content: unknown, call?: string): void;
  /** The acknowledgement to send: this one, or one of the same form that says it was held back. */
  acknowledgement(reply: unknown): unknown;
  /** @throws EgressStopped (the promise rejects) before anything is sent. */
  fetch(sink: Sink, fetch: typeof globalThis.fetch, passage?: AllowedDestination): typeof globalThis.fetch;
  /** Logs that something with live secrets of these kinds was stopped. Returns the error to throw. */
  block(sink: Sink, kinds: readonly string[]): SecretLeakBlocked;
  /** Checks a file while it is read: hand it each piece in order. @throws EgressStopped */
  file(): (piece: Uint8Array) => void;
  /** A sentence with its reference in place of a text that must not leave; undefined where it may. */
  instead(sink: Sink, content: unknown): string | undefined;
}

export function createEgress({ log }: { log: Log }): Egress {
  const stop = (sink: Sink, content: unknown, call?: string): SecretLeakBlocked | undefined => {
    const kinds = findSecretKinds(textOf(content));
    return kinds.length === 0 ? undefined : block(sink, kinds, call);
  };
  const block = (sink: Sink, kinds: readonly string[], call?: string): SecretLeakBlocked => {
    const reference = makeReference();
    log.error({ reference, sink, call, kinds }, 'stopped a secret on its way out');
    return new SecretLeakBlocked(sink, reference);
  };
  const check = (sink: Sink, content: unknown, call?: string): void => {
    const stopped = stop(sink, content, call);
    if (stopped) throw stopped;
  };

  return {
    check,
    acknowledgement(reply) {
      if (reply === undefined || reply === '') return reply;
      const stopped = stop('acknowledgement', reply);
      return stopped ? inPlaceOf(reply, stopped.reference) : reply;
    },
    fetch(sink, fetch, passage) {
      return async (input, init) => {
        const url = new URL(input instanceof Request ? input.url : input);
        const passes = passage?.origins.includes(url.origin) ? passage : undefined;
        check(sink, [url.href, decoded(url.search), ...headersOf(input, init, passes?.header)]);
        if (!passes?.body?.(url)) check(sink, init?.body);
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
    instead(sink, content) {
      const stopped = stop(sink, content);
      return stopped && `${isBlocked.message} Reference ${stopped.reference}`;
    },
  };
}

/** Slack takes an acknowledgement only in the form that fits what it acknowledges. */
function inPlaceOf(reply: unknown, reference: string): unknown {
  const text = `${isBlocked.message} Reference ${reference}`;
  if (typeof reply !== 'object' || reply === null) return text;
  if ('options' in reply || 'option_groups' in reply) {
    const line = `Held back: it would have shown a secret. ${reference}`;
    return { options: [{ text: { type: 'plain_text', text: line }, value: 'note' }] };
  }
  if (!('response_action' in reply)) return { response_type: 'ephemeral', text };
  return {
    response_action: 'update',
    view: {
      type: 'modal',
      title: { type: 'plain_text', text: 'Held back' },
      close: { type: 'plain_text', text: 'Close' },
      blocks: [{ type: 'section', text: { type: 'plain_text', text } }],
    },
  };
}

/** Everything of a value that can be read, joined. What no one can look into (streams, forms) has its own check. */
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

function decoded(search: string): string[] {
  return search === '' ? [] : [...new URLSearchParams(search).values()];
}
