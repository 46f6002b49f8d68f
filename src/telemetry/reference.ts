import { AsyncLocalStorage } from 'node:async_hooks';
import { randomInt } from 'node:crypto';

interface Work {
  reference: string | undefined;
  /** Other work asked for it, and has the same reference. */
  readonly isContinued: boolean;
}

const current = new AsyncLocalStorage<Work>();

/**
 * Runs work under one reference, which is in every line of the log that it causes, in jobs that it enqueues, and in what
 * people read of its failures; inside of other work it just runs. `reference`: that of the work that asked for it.
 */
export function withReference<T>(run: () => T, reference?: string): T {
  if (reference === undefined && current.getStore()) return run();
  return current.run({ reference, isContinued: reference !== undefined }, run);
}

/** The reference of the surrounding work; undefined outside of any. */
export function findReference(): string | undefined {
  const work = current.getStore();
  return work && (work.reference ??= createReference());
}

export function isContinued(): boolean {
  return current.getStore()?.isContinued ?? false;
}

/** The reference to show: that of the surrounding work, else a new one. */
export function makeReference(): string {
  return findReference() ?? createReference();
}

// No letters and digits that look or sound alike: references are read aloud on the phone at night.
const alphabet = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

function createReference(): string {
  return Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join('');
}
