import { z } from 'zod';
import { hourMs, minuteMs } from '../../../lib/time.ts';
import type { JobRef } from '../../../store/queue/define-job.ts';
import type { Enqueue } from '../../../store/queue/queue.ts';
import type { Trx } from '../../../store/schema.ts';
import { startOf } from '../jitter.ts';
import type { Digest } from '../model.ts';
import { findNextRun, type Schedule } from '../schedules/schedule.ts';
import type { RunKey } from './runs.ts';

export const dueData = z.object({ digestId: z.string() });
export const runData = z.object({ digestId: z.string(), due: z.iso.datetime() });

/** Stores the run of a digest that is due, then waits for the next one: one waiting job per digest. */
export const digestDue: JobRef<z.input<typeof dueData>> = {
  name: 'digest-due',
  onePerKey: 'waiting',
  encode: (data) => dueData.parse(data),
};

export const digestRun: JobRef<z.input<typeof runData>> = {
  name: 'digest-run',
  onePerKey: 'running',
  // Kills count; a CDN that is down is retried by the run itself.
  retries: 10,
  timeLimitSeconds: 4 * 60,
  // Most of the time of a run is waiting for the CDN.
  atOnce: 3,
  encode: (data) => runData.parse(data),
};

/** A run that starts later than this is marked late. */
const lateMs = 10 * minuteMs;
/** A run that starts later than this, or than half the way to the next one, is skipped: it would be about another day. */
const tooOldMs = 6 * hourMs;

/** Enqueues the job of the next run, or moves it there; with the transaction that changes `nextDue`. */
export async function enqueueNextRun(
  enqueue: Enqueue,
  { id, tenant, owner, nextDue }: Pick<Digest, 'id' | 'tenant' | 'owner' | 'nextDue'>,
  trx?: Trx,
): Promise<void> {
  if (!nextDue) return;
  const at = startOf({ tenant, owner }, nextDue);
  await enqueue(digestDue, { digestId: id }, { in: trx, key: id, at, tenant });
}

export async function enqueueRun(
  enqueue: Enqueue,
  { report_id: digestId, due }: RunKey,
  options: { readonly in?: Trx; readonly at?: Date } = {},
): Promise<void> {
  const data = { digestId, due: due.toISOString() };
  await enqueue(digestRun, data, { ...options, key: `${digestId} ${data.due}` });
}

/** Without a schedule a person asked for the run. */
export function classifyLateness(
  schedule: Schedule | undefined,
  due: Date,
  now: Date,
): 'in time' | 'late' | 'too old' {
  const behind = now.getTime() - due.getTime();
  if (behind <= lateMs) return 'in time';
  const period = schedule ? findNextRun(schedule, due).getTime() - due.getTime() : Number.POSITIVE_INFINITY;
  return behind > Math.min(tooOldMs, period / 2) ? 'too old' : 'late';
}
