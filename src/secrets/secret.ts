import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';
import { doubtfulKinds } from './fields.ts';

const shown = '[secret]';

/**
 * A value that must never be printed: it reads as `[secret]` in strings, JSON, logs and inspection.
 * Call `reveal()` only where the value leaves for its purpose. From its creation on, the surrounding work is guarded
 * against sending it anywhere else: see `withSecrets`.
 */
export class Secret {
  readonly #value: string;
  readonly #kind: string;

  /** `kind` is a word for the log (`cdn-key`), never a part of the value. */
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

/** The secrets of one piece of work, oldest first. Only grows. */
export type NotedSecrets = readonly NotedSecret[];

/** Something that the work may show. `text` is read from it when it is first asked for. */
export type Shown = { readonly value: unknown; text?: string };

interface Scope {
  readonly noted: NotedSecret[];
  readonly byValue: Map<string, NotedSecret>;
  readonly shown: Shown[];
  charactersLeft: number;
}

// More than a page of API keys, or than a screen of zones with all their rules. Later ones are not registered: the
// person's own key and the sources of the answer come first.
const maxSecrets = 2_000;
const maxCharacters = 1_000_000;

type Kinds = ReadonlySet<string>;
const work = new AsyncLocalStorage<{ readonly scope: Scope | undefined; readonly carried: Kinds }>();
const nothing: Kinds = new Set();
const held = new Set<NotedSecret[]>();

/** Runs one piece of work (a delivery, a request, a job) whose secrets are collected; inside of one it just runs. */
export function withSecrets<T>(run: () => T): T {
  if (work.getStore()?.scope) return run();
  const scope: Scope = { noted: [], byValue: new Map(), shown: [], charactersLeft: maxCharacters };
  return work.run({ scope, carried: nothing }, run);
}

/** Registers a secret with the surrounding work. Anything but text is ignored, so that wire values can be passed. */
export function registerSecret(kind: string, value: unknown): void {
  const scope = work.getStore()?.scope;
  if (!scope || typeof value !== 'string' || value === '') return;
  const { noted, byValue } = scope;
  const known = byValue.get(value);
  if (known) {
    // A specific kind replaces the generic one, and a live one a doubtful one.
    if (known.kind === unnamed || doubtfulKinds.has(known.kind)) known.kind = kind;
    return;
  }
  if (noted.length >= maxSecrets || value.length > scope.charactersLeft) return;
  scope.charactersLeft -= value.length;
  const secret = { kind, value };
  byValue.set(value, secret);
  noted.push(secret);
}

/** Registers what the surrounding work may show: a doubtful value that also stands in it is no secret. */
export function registerShown(value: unknown): void {
  work.getStore()?.scope?.shown.push({ value });
}

/** Registers secrets of the whole process; the returned function ends that. */
export function registerSecrets(
  secrets: Readonly<Record<string, readonly (string | undefined)[]>>,
): () => void {
  const noted = Object.entries(secrets).flatMap(([kind, values]) =>
    values.flatMap((value) => (value ? [{ kind, value }] : [])),
  );
  held.add(noted);
  return () => void held.delete(noted);
}

/** Runs the one step in which secrets of these kinds may leave, such as sending a one-time link to its person. */
export function allowSecrets<T>(kinds: readonly string[], run: () => T): T {
  if (kinds.length === 0) return run();
  const store = work.getStore();
  return work.run({ scope: store?.scope, carried: new Set([...(store?.carried ?? nothing), ...kinds]) }, run);
}

/** The secrets to search for in outgoing data, the kinds that may leave now, and what the work may show. */
export function findKnownSecrets() {
  const store = work.getStore();
  const lists: NotedSecrets[] = store?.scope ? [...held, store.scope.noted] : [...held];
  return { lists, carried: store?.carried ?? nothing, shown: store?.scope?.shown ?? [] };
}
