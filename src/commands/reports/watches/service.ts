import type { Person } from '../../../auth/identity.ts';
import { type CustodyOptions, createCustody } from '../schedules/custody.ts';
import { listScheduled } from '../schedules/rows.ts';
import { findNextLook } from './hours.ts';
import { editIncident, editOpenIncidents, leaveOpenIncidents } from './messages.ts';
import type { Incident, Watch, WatchOrder } from './model.ts';
import { enqueueLook, enqueueNextLook } from './queue.ts';
import { findIncident, readIncident, watchPauses, watchTable } from './table.ts';

export type WatchService = ReturnType<typeof createWatchService>;

/** Watches as commands work with them. */
export function createWatchService(options: CustodyOptions) {
  const { db, audit, enqueue, now, outbox } = options;
  return {
    ...createCustody<Watch, WatchOrder>(watchTable, options, {
      pauses: watchPauses,
      toColumns: ({ channel, subject }) => ({ channel, body: JSON.stringify(subject) }),
      findNextRun: ({ subject }, after) => findNextLook(subject, after),
      describe: ({ channel, subject }) => ({ channel, condition: subject.condition }),
      async changed(trx, watch, before) {
        await enqueueNextLook(enqueue, watch, trx);
        const isOther = looksForOther(watch, before);
        // What was remembered of something else would be read as a change.
        if (isOther)
          await trx.updateTable('watches').set({ state: null }).where('id', '=', watch.id).execute();
        if (isOther || watch.deletedAt) await leaveOpenIncidents(trx, before, { outbox, now: now() });
        else await editOpenIncidents(trx, watch.id, outbox);
      },
    }),
    list: (tenant: string): Promise<Watch[]> => listScheduled(db, watchTable, tenant),
    /** The open incidents of a tenant's watches. */
    async listOpen(tenant: string): Promise<Incident[]> {
      const rows = await db
        .selectFrom('watch_incidents')
        .innerJoin('watches', 'watches.id', 'watch_id')
        .selectAll('watch_incidents')
        .where('tenant', '=', tenant)
        .where('watches.deleted_at', 'is', null)
        .where('closed_at', 'is', null)
        .orderBy('opened_at')
        .execute();
      return rows.map(readIncident);
    },
    /** The newest incidents of a watch, the newest first. */
    async listIncidents(watchId: string): Promise<Incident[]> {
      const rows = await db
        .selectFrom('watch_incidents')
        .selectAll()
        .where('watch_id', '=', watchId)
        .orderBy('opened_at', 'desc')
        .limit(20)
        .execute();
      return rows.map(readIncident);
    },
    findIncident: (id: string): Promise<Incident | undefined> => findIncident(db, id),
    /** Says who is on it. Undefined where somebody was faster: the incident tells who. */
    acknowledge: (incident: Incident, watch: Watch, by: Person): Promise<Incident | undefined> =>
      db.transaction().execute(async (trx) => {
        const row = await trx
          .updateTable('watch_incidents')
          .set({ acknowledged_by: by.userId, acknowledged_at: now() })
          .where('id', '=', incident.id)
          .where('acknowledged_by', 'is', null)
          .returningAll()
          .executeTakeFirst();
        if (!row) return undefined;
        const detail = { incident: incident.id };
        const record = { tenant: watch.tenant, actor: by.userId, event: 'watch-acknowledged' } as const;
        await audit.record({ ...record, subject: watch.id, detail }, trx);
        await editIncident(trx, incident, outbox);
        return readIncident(row);
      }),
    /** Keeps it quiet until then; `undefined` = it speaks again. It looks on, and tells afterwards what still is wrong. */
    snooze: (watch: Watch, until: Date | undefined, by: Person): Promise<Watch | undefined> =>
      db.transaction().execute(async (trx) => {
        const row = await trx
          .updateTable('watches')
          .set({ snoozed_until: until ?? null, snoozed_by: until ? by.userId : null })
          .where('id', '=', watch.id)
          .where('deleted_at', 'is', null)
          .returningAll()
          .executeTakeFirst();
        if (!row) return undefined;
        const detail = { until: until?.toISOString() ?? 'now' };
        const record = { tenant: watch.tenant, actor: by.userId, event: 'watch-snoozed' } as const;
        await audit.record({ ...record, subject: watch.id, detail }, trx);
        await editOpenIncidents(trx, watch.id, outbox);
        return watchTable.read(row);
      }),
    /** Looks at the next opportunity, whatever its hours. False where it is paused. */
    lookNow: (watch: Watch): Promise<boolean> =>
      db.transaction().execute(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('watches')
          .set({ next_due: now() })
          .where('id', '=', watch.id)
          .where('paused', 'is', null)
          .where('deleted_at', 'is', null)
          .executeTakeFirst();
        if (numUpdatedRows === 1n) await enqueueLook(enqueue, watch, { in: trx, at: now(), isFresh: true });
        return numUpdatedRows === 1n;
      }),
  };
}

/** Whether it was changed to another condition or other targets: what it found before says nothing about those. */
function looksForOther({ subject }: Watch, { subject: before }: Watch): boolean {
  const { condition, targets } = subject;
  return (
    condition !== before.condition || targets.toSorted().join(' ') !== before.targets.toSorted().join(' ')
  );
}
