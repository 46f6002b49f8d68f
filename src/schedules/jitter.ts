import { createHash } from 'node:crypto';
import type { Scheduled } from './model.ts';

/** Runs start within this time after they are due: nine o'clock is many digests. */
const jitterMs = 50_000;

/** The start of a run. Those of one person start together, so that what they need is read once. */
export function startOf({ tenant, owner }: Pick<Scheduled, 'tenant' | 'owner'>, due: Date): Date {
  const hash = createHash('sha256').update(`${tenant}:${owner.userId}`).digest().readUInt32BE();
  return new Date(due.getTime() + (hash % jitterMs));
}
