import { createHash } from 'node:crypto';
import type { Person } from '../../auth/identity.ts';

/** Runs start within this time after they are due: nine o'clock is many digests. */
const jitterMs = 50_000;

interface Starting {
  readonly tenant: string;
  readonly owner: Pick<Person, 'userId'>;
}

/** The start of a run. Those of one person start together, so that what they need is read once. */
export function startOf({ tenant, owner }: Starting, due: Date): Date {
  const hash = createHash('sha256').update(`${tenant}:${owner.userId}`).digest().readUInt32BE();
  return new Date(due.getTime() + (hash % jitterMs));
}
