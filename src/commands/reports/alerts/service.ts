import type { Person } from '../../../auth/identity.ts';
import { dayMs } from '../../../lib/time.ts';
import type { Alert, Incident, ReportOptions } from '../model.ts';
import { enqueueNext } from '../queue.ts';
import { findIncident, readIncident, readReport } from '../table.ts';
import { editIncident, editOpenIncidents } from './write.ts';

/** What commands do with alerts and their incidents, apart from creating and deleting them. */
export function createAlertWork({ db, audit, enqueue, now, outbox }: ReportOptions) {
  return {
    /** Of a tenant's alerts what is open, or ended today, oldest first. `isUntold`: no place took its newest message. */
    async listRecentIncidents(tenant: string): Promise<(Incident & { readonly isUntold: boolean })[]> {
      const rows = await db
        .selectFrom('report_incidents')
        .innerJoin('reports', 'reports.id', 'report_id')
        .leftJoin('outbox', 'outbox.id', 'report_incidents.message')
        .selectAll('report_incidents')
        .select('outbox.state as message_state')
        .where('reports.tenant', '=', tenant)
        .where('reports.deleted_at', 'is', null)
        .where((is) =>
          is.or([is('closed_at', 'is', null), is('closed_at', '>', new Date(now().getTime() - dayMs))]),
        )
        .orderBy('opened_at')
        .execute();
      return rows.map(({ message_state: state, ...row }) => ({
        ...readIncident(row),
        isUntold: state === 'dead' || state === 'unknown',
      }));
    },
    /** The newest of an alert, the newest first. */
    async listIncidents(alertId: string): Promise<Incident[]> {
      const rows = await db
        .selectFrom('report_incidents')
        .selectAll()
        .where('report_id', '=', alertId)
        .orderBy('opened_at', 'desc')
        .limit(20)
        .execute();
      return rows.map(readIncident);
    },
    findIncident: (id: string): Promise<Incident | undefined> => findIncident(db, id),
    /** Undefined where somebody was faster: the incident tells who. */
    acknowledge: (incident: Incident, { id, tenant }: Alert, by: Person): Promise<Incident | undefined> =>
      db.transaction().execute(async (trx) => {
        const row = await trx
          .updateTable('report_incidents')
          .set({ acknowledged_by: by.userId, acknowledged_at: now() })
          .where('id', '=', incident.id)
          .where('acknowledged_by', 'is', null)
          .returningAll()
          .executeTakeFirst();
        if (!row) return undefined;
        const record = { tenant, actor: by.userId, event: 'alert-acknowledged', subject: id } as const;
        await audit.record({ ...record, detail: { incident: incident.id } }, trx);
        await editIncident(trx, incident, outbox);
        return readIncident(row);
      }),
    /** It goes on checking and posts afterwards what still fires. `until` undefined = ends the snooze. */
    snooze: ({ id, tenant }: Alert, until: Date | undefined, by: Person): Promise<Alert> =>
      db.transaction().execute(async (trx) => {
        const row = await trx
          .updateTable('reports')
          .set({ snoozed_until: until ?? null, snoozed_by: until ? by.userId : null })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow();
        const record = { tenant, actor: by.userId, event: 'alert-snoozed', subject: id } as const;
        await audit.record({ ...record, detail: { until: until?.toISOString() ?? 'now' } }, trx);
        await editOpenIncidents(trx, id, outbox);
        return readReport(row) as Alert;
      }),
    /** Checks at the next opportunity, whatever its hours; one that is paused does not. */
    checkNow: (alert: Alert): Promise<void> =>
      db.transaction().execute(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('reports')
          .set({ next_due: now() })
          .where('id', '=', alert.id)
          .where('next_due', 'is not', null)
          .executeTakeFirst();
        if (numUpdatedRows === 1n) await enqueueNext(enqueue, alert, trx, { now: now() });
      }),
  };
}
