import { AsyncLocalStorage } from 'node:async_hooks';
import { randomInt } from 'node:crypto';

const current = new AsyncLocalStorage<{ reference: string | undefined }>();

/** The workspace or organization (`tenantId`) that the running work is for; undefined = the bot itself. */
export const tenantScope = new AsyncLocalStorage<string>();

/** One reference for log lines, jobs and failures of a piece of work; inside of other work it just runs. */
export function withReference<T>(run: () => T, reference?: string): T {
  if (reference === undefined && current.getStore()) return run();
  return current.run({ reference }, run);
}

export function findReference(): string | undefined {
  const work = current.getStore();
  return work && (work.reference ??= createReference());
}

export function makeReference(): string {
  return findReference() ?? createReference();
}

// No letters and digits that look or sound alike: references are read aloud on the phone at night.
const alphabet = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

function createReference(): string {
  return Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join('');
}
