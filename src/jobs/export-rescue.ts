import type { Kysely } from 'kysely';
import type { Log } from '../log.ts';
import { endIdleExport, freeExport, settleUnknown } from '../store/export-moves.ts';
import { type ExportRow, unfinishedExports } from '../store/exports.ts';
import type { Schema } from '../store/schema.ts';
import { exportNotBegun } from '../views/event-log-ends.ts';
import { endExport, tellUnknown } from './export-ends.ts';
import { placeOf, summaryOf } from './export-rows.ts';
import { exportJob } from './export-run.ts';
import type { Ports } from './ports.ts';

interface Rescue {
  readonly db: Kysely<Schema>;
  readonly ports: Pick<Ports, 'slack' | 'enqueue' | 'audit'>;
  readonly log: Log;
  readonly now: () => Date;
  /** An export whose message is not there by then never got one. */
  readonly announcedWithinMs: number;
}

/**
 * Takes up exports whose process died: they begin again, or end where somebody has cancelled them or where their files
 * may have been posted. Any number of processes may look at once; each export is taken up by one of them.
 */
export async function rescueExports(rescue: Rescue): Promise<void> {
  for (const row of await unfinishedExports(rescue.db)) {
    try {
      await rescueOne(row, rescue);
    } catch (error) {
      // The others are not to wait; this one is looked at again.
      rescue.log.warn({ error, id: row.id }, 'an export could not be taken up');
    }
  }
}

async function rescueOne(row: ExportRow, { db, ports, log, now, announcedWithinMs }: Rescue): Promise<void> {
  const { id } = row;
  const context = { ports, log, signal: new AbortController().signal };
  if (row.state === 'asked') {
    if (row.asked_at.getTime() > now().getTime() - announcedWithinMs) return;
    if (!(await endIdleExport(db, id, 'failed', { now: now() }))) return;
    // Where its message is, if it is there, nobody knows.
    await ports.slack(placeOf(row), context.signal).post(row.user_id, exportNotBegun(summaryOf(row)));
    return;
  }
  if (row.lease_until === null || row.lease_until >= now()) return;
  if (row.state === 'sharing') {
    const unknown = await settleUnknown(db, id, now());
    if (unknown) await tellUnknown(unknown, context);
    return;
  }
  if (row.state !== 'running') return;
  if (row.cancelled_by !== null) {
    if (await endIdleExport(db, id, 'cancelled', { now: now() }))
      await endExport({ row, context }, { kind: 'cancelled', one: summaryOf(row), by: row.cancelled_by });
    return;
  }
  await db.transaction().execute(async (trx) => {
    if (await freeExport(trx, id, now())) await ports.enqueue(exportJob, { id }, { in: trx });
  });
}
