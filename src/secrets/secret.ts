import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';

const shown = '[secret]';

/**
 * A value that must never be printed: it reads as `[secret]` in strings, JSON, logs and inspection.
 * `reveal()` is the one way out, to be called only where the value leaves for its purpose. Whoever makes or reveals
 * one is from then on guarded against sending it anywhere else: see `withSecrets`.
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

export interface NotedSecret {
  readonly value: string;
  readonly kind: string;
}

/** The secrets that one piece of work has met, oldest first. Only grows. */
export type NotedSecrets = readonly NotedSecret[];

interface Scope {
  readonly noted: NotedSecret[];
  readonly places: Map<string, number>;
  characters: { left: number };
}

// More than a page of API keys, or than a screen of zones with all their rules. What comes later is not noted: by then
// the person's own key and what the answer was made of are.
const mostSecrets = 2_000;
const mostCharacters = 1_000_000;

const work = new AsyncLocalStorage<{ readonly scope: Scope | undefined; readonly carried: Carried }>();
type Carried = ReadonlySet<string>;
const nothing: Carried = new Set();
const held = new Set<NotedSecret[]>();

/** Runs one piece of work (a delivery, a request, a job) whose secrets are collected; inside of one it just runs. */
export function withSecrets<T>(run: () => T): T {
  if (work.getStore()?.scope) return run();
  const scope: Scope = { noted: [], places: new Map(), characters: { left: mostCharacters } };
  return work.run({ scope, carried: nothing }, run);
}

/** Tells the work at hand of a secret it has met. Anything but text is ignored, so that wire values can be handed in. */
export function registerSecret(kind: string, value: unknown): void {
  const scope = work.getStore()?.scope;
  if (!scope || typeof value !== 'string' || value === '') return;
  const { noted, places, characters } = scope;
  const place = places.get(value);
  if (place !== undefined) {
    // A name that says more replaces the one that says nothing.
    if (kind !== unnamed && noted[place]?.kind === unnamed) noted[place] = { kind, value };
    return;
  }
  if (noted.length >= mostSecrets || value.length > characters.left) return;
  characters.left -= value.length;
  places.set(value, noted.length);
  noted.push({ kind, value });
}

/** Guards secrets that live as long as the process, whatever runs; gives back what ends that. */
export function registerSecrets(
  secrets: Readonly<Record<string, readonly (string | undefined)[]>>,
): () => void {
  const noted = Object.entries(secrets).flatMap(([kind, values]) =>
    values.flatMap((value) => (value ? [{ kind, value }] : [])),
  );
  held.add(noted);
  return () => void held.delete(noted);
}

/**
 * Runs the one step in which secrets of these kinds may leave: a one-time link on its way to its person. Everything
 * else stays guarded, and so are they again afterwards.
 */
export function allowSecrets<T>(kinds: readonly string[], run: () => T): T {
  if (kinds.length === 0) return run();
  const store = work.getStore();
  return work.run({ scope: store?.scope, carried: new Set([...(store?.carried ?? nothing), ...kinds]) }, run);
}

/** The secrets to look for in what leaves now, and the kinds that may. */
export function knownSecrets(): { readonly lists: readonly NotedSecrets[]; readonly carried: Carried } {
  const store = work.getStore();
  const lists = store?.scope ? [...held, store.scope.noted] : [...held];
  return { lists, carried: store?.carried ?? nothing };
}
