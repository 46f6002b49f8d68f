import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Person } from '../../auth/identity.ts';
import type { JobRef } from '../../store/queue/define-job.ts';
import type { Enqueue, EnqueueOptions } from '../../store/queue/queue.ts';
import type { Trx } from '../../store/schema.ts';

/** `isFresh`: a person asked for it, and wants what is there now. */
export const dueData = z.object({ tenant: z.string(), owner: z.string(), isFresh: z.boolean().optional() });
export const runData = z.object({ digestId: z.string(), due: z.iso.datetime() });

/** Runs everything of a person that is due, then waits for the next: one waiting job a person. */
export const reportsDue: JobRef<z.input<typeof dueData>> = {
  name: 'reports-due',
  onePerKey: 'waiting',
  // A check that fails is repeated by its alert; this is for processes that die.
  retries: 3,
  timeLimitSeconds: 4 * 60,
  // Most of the time of a check is waiting for the CDN.
  atOnce: 3,
  encode: (data) => dueData.parse(data),
};

export const digestRun: JobRef<z.input<typeof runData>> = {
  name: 'digest-run',
  onePerKey: 'running',
  // Kills count; a CDN that is down is retried by the run itself.
  retries: 10,
  timeLimitSeconds: 4 * 60,
  atOnce: 3,
  encode: (data) => runData.parse(data),
};

interface Whose {
  readonly tenant: string;
  readonly owner: Pick<Person, 'userId'>;
}

/** Runs start within this time after they are due: nine o'clock is many digests. */
const jitterMs = 50_000;

/** The start of a run. Those of one person start together, so that what they need is read once. */
export function startOf({ tenant, owner }: Whose, due: Date): Date {
  const hash = createHash('sha256').update(`${tenant}:${owner.userId}`).digest().readUInt32BE();
  return new Date(due.getTime() + (hash % jitterMs));
}

/**
 * Enqueues the job of a person, or moves it to when the first of their reports is due. `now`: at that moment, and nothing
 * that was read before counts.
 */
export async function enqueueNext(
  enqueue: Enqueue,
  person: Whose,
  trx: Trx,
  { now, ...options }: Pick<EnqueueOptions, 'unlessUnderWay'> & { readonly now?: Date } = {},
): Promise<void> {
  const { tenant, owner } = person;
  const row = await trx
    .selectFrom('reports')
    .select('next_due')
    .where((is) => is.and({ tenant, owner: owner.userId }))
    .where('paused', 'is', null)
    .where('deleted_at', 'is', null)
    .where('next_due', 'is not', null)
    .orderBy('next_due')
    .limit(1)
    .executeTakeFirst();
  const at = now ?? (row?.next_due && startOf(person, row.next_due));
  const data = { tenant, owner: owner.userId, isFresh: now !== undefined };
  const key = `${tenant}:${owner.userId}`;
  if (at) await enqueue(reportsDue, data, { ...options, in: trx, at, key, tenant });
}

export async function enqueueRun(
  enqueue: Enqueue,
  { report_id: digestId, due }: { readonly report_id: string; readonly due: Date },
  options: { readonly in?: Trx; readonly at?: Date } = {},
): Promise<void> {
  const data = { digestId, due: due.toISOString() };
  await enqueue(digestRun, data, { ...options, key: `${digestId} ${data.due}` });
}
