import { z } from 'zod';
import type { Person } from '../../../auth/identity.ts';
import type { JobRef } from '../../../store/queue/define-job.ts';
import type { Enqueue } from '../../../store/queue/queue.ts';
import type { Db, Trx } from '../../../store/schema.ts';
import { startOf } from '../jitter.ts';

/** `isFresh`: a person asked for it, and wants what is there now. */
export const lookData = z.object({ tenant: z.string(), owner: z.string(), isFresh: z.boolean().optional() });

/** Looks at an account for all of a person's alerts that are due, then waits for the next: one waiting job a person. */
export const alertLook: JobRef<z.input<typeof lookData>> = {
  name: 'watch-look',
  onePerKey: 'waiting',
  // A look that fails is repeated by its alert; this is for processes that die.
  retries: 3,
  timeLimitSeconds: 4 * 60,
  // Most of the time of a look is waiting for the CDN.
  atOnce: 3,
  encode: (data) => lookData.parse(data),
};

/** Enqueues the next look for a person, or moves it to when the first of their alerts is due. */
export async function enqueueNextLook(
  enqueue: Enqueue,
  { tenant, owner }: { readonly tenant: string; readonly owner: Pick<Person, 'userId'> },
  trx: Trx,
): Promise<void> {
  const due = await findNextDue(trx, tenant, owner.userId);
  if (!due) return;
  await enqueueLook(enqueue, { tenant, owner }, { in: trx, at: startOf({ tenant, owner }, due) });
}

/** Enqueues a look for a person at that moment; `isFresh` reads nothing that was read before. */
export async function enqueueLook(
  enqueue: Enqueue,
  { tenant, owner }: { readonly tenant: string; readonly owner: Pick<Person, 'userId'> },
  { isFresh, ...options }: { readonly in: Trx; readonly at: Date; readonly isFresh?: boolean },
): Promise<void> {
  const key = `${tenant}:${owner.userId}`;
  await enqueue(alertLook, { tenant, owner: owner.userId, isFresh }, { ...options, key, tenant });
}

async function findNextDue(db: Db, tenant: string, owner: string): Promise<Date | undefined> {
  const row = await db
    .selectFrom('reports')
    .select('next_due')
    .where((is) => is.and({ tenant, owner, kind: 'alert' }))
    .where('paused', 'is', null)
    .where('deleted_at', 'is', null)
    .where('next_due', 'is not', null)
    .orderBy('next_due')
    .limit(1)
    .executeTakeFirst();
  return row?.next_due ?? undefined;
}
