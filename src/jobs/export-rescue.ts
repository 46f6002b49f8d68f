import type { Kysely } from 'kysely';
import type { Log } from '../log.ts';
import { endIdleExport, freeExport } from '../store/export-moves.ts';
import { type ExportRow, unfinishedExports } from '../store/exports.ts';
import type { Schema } from '../store/schema.ts';
import { notBegun } from './export-begin.ts';
import { endExport, endUnknown } from './export-ends.ts';
import { exportJob } from './export-run.ts';
import type { Ports } from './ports.ts';

// Its job has been given up by then, and nobody waits any more.
const begunWithinMs = 15 * 60_000;

interface Rescue {
  readonly db: Kysely<Schema>;
  readonly ports: Pick<Ports, 'enqueue' | 'audit'>;
  readonly log: Log;
  readonly now: () => Date;
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

async function rescueOne(row: ExportRow, rescue: Rescue): Promise<void> {
  const { db, ports, now } = rescue;
  const { id } = row;
  if (row.state === 'asked') {
    if (row.asked_at.getTime() < now().getTime() - begunWithinMs) await notBegun(rescue, id);
    return;
  }
  if (row.lease_until === null || row.lease_until >= now()) return;
  if (row.state === 'sharing') return void (await endUnknown(rescue, id));
  if (row.state !== 'running') return;
  if (row.cancelled_by !== null) {
    const ending = { kind: 'cancelled', by: row.cancelled_by } as const;
    await endExport(rescue, { id, ending }, (trx, end) => endIdleExport(trx, id, 'cancelled', { end }));
    return;
  }
  await db.transaction().execute(async (trx) => {
    if (await freeExport(trx, id, now())) await ports.enqueue(exportJob, { id }, { in: trx });
  });
}
