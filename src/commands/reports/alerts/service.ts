import type { Selectable } from 'kysely';
import type { Person } from '../../../auth/identity.ts';
import { dayMs } from '../../../lib/time.ts';
import type { Schema } from '../../../store/schema.ts';
import type { Alert, Incident, ReportOptions } from '../model.ts';
import { enqueueDue } from '../queue.ts';
import { findIncident, readIncident, readReport } from '../table.ts';
import { editIncident, editOpenIncidents } from './write.ts';

/** What commands do with alerts and their incidents, beside their life. */
export function createAlertWork({ db, audit, enqueue, now, outbox }: ReportOptions) {
  const incidents = db.selectFrom('report_incidents').innerJoin('reports', 'reports.id', 'report_id');
  return {
    /** Of a tenant's alerts, oldest first. */
    listOpenIncidents: async (tenant: string): Promise<Incident[]> =>
      readAll(
        await incidents
          .selectAll('report_incidents')
          .where('tenant', '=', tenant)
          .where('reports.deleted_at', 'is', null)
          .where('closed_at', 'is', null)
          .orderBy('opened_at')
          .execute(),
      ),
    /** Alerts whose newest message about something that is not over, or ended today, no place took. */
    async listUntold(tenant: string): Promise<ReadonlySet<string>> {
      const rows = await incidents
        .innerJoin('outbox', 'outbox.id', 'report_incidents.message')
        .select('report_id')
        .where('reports.tenant', '=', tenant)
        .where('outbox.state', 'in', ['dead', 'unknown'])
        .where((is) =>
          is.or([is('closed_at', 'is', null), is('closed_at', '>', new Date(now().getTime() - dayMs))]),
        )
        .execute();
      return new Set(rows.map((row) => row.report_id));
    },
    /** The newest of an alert, the newest first. */
    listIncidents: async (alertId: string): Promise<Incident[]> =>
      readAll(
        await db
          .selectFrom('report_incidents')
          .selectAll()
          .where('report_id', '=', alertId)
          .orderBy('opened_at', 'desc')
          .limit(20)
          .execute(),
      ),
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
    snooze: ({ id, tenant }: Alert, until: Date | undefined, by: Person): Promise<Alert | undefined> =>
      db.transaction().execute(async (trx) => {
        const row = await trx
          .updateTable('reports')
          .set({ snoozed_until: until ?? null, snoozed_by: until ? by.userId : null })
          .where('id', '=', id)
          .where('deleted_at', 'is', null)
          .returningAll()
          .executeTakeFirst();
        if (!row) return undefined;
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
          .where('paused', 'is', null)
          .where('deleted_at', 'is', null)
          .executeTakeFirst();
        if (numUpdatedRows === 1n) await enqueueDue(enqueue, alert, { in: trx, at: now(), isFresh: true });
      }),
  };
}

function readAll(rows: readonly Selectable<Schema['report_incidents']>[]): Incident[] {
  return rows.map(readIncident);
}
