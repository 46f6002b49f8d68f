import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';

const shown = '[secret]';

/** A value that reads as `[secret]`. Call `reveal()` only where it leaves for its purpose: all else that leaves is searched for it. */
export class Secret {
  readonly #value: string;
  readonly #kind: string;

  constructor(value: string, kind = unnamed) {
    this.#value = value;
    this.#kind = kind;
    registerSecret(kind, value);
  }

  reveal(): string {
    registerSecret(this.#kind, this.#value);
    return this.#value;
  }

  toString(): string {
    return shown;
  }

  toJSON(): string {
    return shown;
  }

  [inspect.custom](): string {
    return shown;
  }
}

const unnamed = 'secret';

export type NotedSecret = { readonly value: string; kind: string };

export type NotedSecrets = readonly NotedSecret[];

/** Masked where it stands, since it may be an ordinary word. All other kinds are live keys and tokens, which stop a message. */
export function isDoubtful({ kind }: NotedSecret): boolean {
  return kind === 'variable-value';
}

interface Scope {
  readonly noted: NotedSecret[];
  readonly byValue: Map<string, NotedSecret>;
  charactersLeft: number;
}

// Later ones are not registered: the person's own key comes first.
const maxSecrets = 2_000;
const maxCharacters = 1_000_000;

type Kinds = ReadonlySet<string>;
const work = new AsyncLocalStorage<{ readonly scope: Scope | undefined; readonly carried: Kinds }>();
const nothing: Kinds = new Set();
/** Secrets of the whole process. One list, since each list is another pass over all that leaves. */
let held: NotedSecrets = [];

/** Runs one piece of work (a delivery, a job) whose secrets are collected. */
export function withSecrets<T>(run: () => T): T {
  if (work.getStore()?.scope) return run();
  const scope: Scope = { noted: [], byValue: new Map(), charactersLeft: maxCharacters };
  return work.run({ scope, carried: nothing }, run);
}

/** Registers a secret with the surrounding work. */
export function registerSecret(kind: string, value: unknown): void {
  const scope = work.getStore()?.scope;
  if (!scope || typeof value !== 'string') return;
  const { noted, byValue } = scope;
  const known = byValue.get(value);
  if (known) {
    if (known.kind === unnamed || isDoubtful(known)) known.kind = kind;
    return;
  }
  if (noted.length >= maxSecrets || value.length > scope.charactersLeft) return;
  scope.charactersLeft -= value.length;
  const secret = { kind, value };
  byValue.set(value, secret);
  noted.push(secret);
}

/** Registers secrets of the whole process; the returned function ends that. */
export function registerSecrets(
  secrets: Readonly<Record<string, readonly (string | undefined)[]>>,
): () => void {
  const noted = Object.entries(secrets).flatMap(([kind, values]) =>
    values.flatMap((value) => (value ? [{ kind, value }] : [])),
  );
  // A new list, since the index of a list only grows.
  held = [...held, ...noted];
  return () => void (held = held.filter((secret) => !noted.includes(secret)));
}

/** Runs the one step in which secrets of these kinds may leave, such as sending a one-time link to its person. */
export function allowSecrets<T>(kinds: readonly string[], run: () => T): T {
  const store = work.getStore();
  return work.run({ scope: store?.scope, carried: new Set([...(store?.carried ?? nothing), ...kinds]) }, run);
}

export function findKnownSecrets() {
  const store = work.getStore();
  const lists: NotedSecrets[] = store?.scope ? [held, store.scope.noted] : [held];
  return { lists, carried: store?.carried ?? nothing };
}
