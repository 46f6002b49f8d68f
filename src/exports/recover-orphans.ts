import type { Kysely } from 'kysely';
import { minuteMs } from '../lib/time.ts';
import type { Schema } from '../store/schema.ts';
import type { Log } from '../telemetry/log.ts';
import { endAsNotBegun } from './begin.ts';
import { finishAsUnknown, finishExport } from './finish.ts';
import type { ExportPorts } from './ports.ts';
import { type ExportRow, findUnfinishedExports } from './queries/exports.ts';
import { endUnclaimedExport, releaseExport } from './queries/transitions.ts';
import { runExportJob } from './run.ts';

// Its job has been given up by then, and nobody waits any more.
const begunWithinMs = 15 * minuteMs;

interface Rescue {
  readonly db: Kysely<Schema>;
  readonly ports: Pick<ExportPorts, 'enqueue' | 'audit'>;
  readonly log: Log;
  readonly now: () => Date;
}

/**
 * Takes up exports whose process died: they begin again, or end where somebody has cancelled them or where their files
 * may have been posted. Any number of processes may look at once; each export is taken up by one of them.
 */
export async function recoverOrphanedExports(rescue: Rescue): Promise<void> {
  for (const row of await findUnfinishedExports(rescue.db)) {
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
    if (row.asked_at.getTime() < now().getTime() - begunWithinMs) await endAsNotBegun(rescue, id);
    return;
  }
  if (row.lease_until === null || row.lease_until >= now()) return;
  if (row.state === 'sharing') return void (await finishAsUnknown(rescue, id));
  if (row.state !== 'running') return;
  if (row.cancelled_by !== null) {
    const ending = { kind: 'cancelled', by: row.cancelled_by } as const;
    await finishExport(rescue, { id, ending }, (trx, end) =>
      endUnclaimedExport(trx, id, 'cancelled', { end }),
    );
    return;
  }
  await db.transaction().execute(async (trx) => {
    if (await releaseExport(trx, id, now())) await ports.enqueue(runExportJob, { id }, { in: trx });
  });
}
