import type { Person } from '../../../auth/identity.ts';
import { dayMs } from '../../../lib/time.ts';
import { createLife, type LifeOptions } from '../life.ts';
import type { Alert, AlertOrder, Incident } from '../model.ts';
import { enqueueDue } from '../queue.ts';
import { findIncident, isAlert, listReports, readIncident, readReport } from '../table.ts';
import { findNextLook } from './hours.ts';
import { editIncident, editOpenIncidents, leaveOpenIncidents } from './messages.ts';

export type AlertService = ReturnType<typeof createAlertService>;

/** Alerts as commands work with them. */
export function createAlertService(options: LifeOptions) {
  const { db, audit, enqueue, now, outbox } = options;
  return {
    ...createLife<Alert, AlertOrder>('alert', options, {
      toColumns: ({ channel, subject }) => ({ channel, body: JSON.stringify(subject) }),
      findNextRun: ({ subject }, after) => findNextLook(subject, after),
      describe: ({ channel, subject }) => ({ channel, condition: subject.condition }),
      async changed(trx, alert, before) {
        const isOther = checksOther(alert, before);
        // What was remembered of something else, or read with another key, would be taken for a change.
        if (isOther || alert.owner.userId !== before.owner.userId)
          await trx
            .updateTable('reports')
            .set({ state: null, checked_at: null })
            .where('id', '=', alert.id)
            .execute();
        if (isOther || alert.deletedAt) await leaveOpenIncidents(trx, before, { outbox, now: now() });
        else await editOpenIncidents(trx, alert.id, outbox);
      },
    }),
    list: async (tenant: string): Promise<Alert[]> => (await listReports(db, tenant)).filter(isAlert),
    /** The open incidents of a tenant's alerts. */
    async listOpen(tenant: string): Promise<Incident[]> {
      const rows = await db
        .selectFrom('report_incidents')
        .innerJoin('reports', 'reports.id', 'report_id')
        .selectAll('report_incidents')
        .where('tenant', '=', tenant)
        .where('reports.deleted_at', 'is', null)
        .where('closed_at', 'is', null)
        .orderBy('opened_at')
        .execute();
      return rows.map(readIncident);
    },
    /** Alerts whose newest message about something that is not over, or ended today, no place took. */
    async listUntold(tenant: string): Promise<ReadonlySet<string>> {
      const rows = await db
        .selectFrom('report_incidents')
        .innerJoin('reports', 'reports.id', 'report_id')
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
    /** The newest incidents of an alert, the newest first. */
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
    /** Says who is on it. Undefined where somebody was faster: the incident tells who. */
    acknowledge: (incident: Incident, alert: Alert, by: Person): Promise<Incident | undefined> =>
      db.transaction().execute(async (trx) => {
        const row = await trx
          .updateTable('report_incidents')
          .set({ acknowledged_by: by.userId, acknowledged_at: now() })
          .where('id', '=', incident.id)
          .where('acknowledged_by', 'is', null)
          .returningAll()
          .executeTakeFirst();
        if (!row) return undefined;
        const detail = { incident: incident.id };
        const record = { tenant: alert.tenant, actor: by.userId, event: 'alert-acknowledged' } as const;
        await audit.record({ ...record, subject: alert.id, detail }, trx);
        await editIncident(trx, incident, outbox);
        return readIncident(row);
      }),
    /** Keeps it quiet until then; `undefined` = it speaks again. It looks on, and tells afterwards what still is wrong. */
    snooze: (alert: Alert, until: Date | undefined, by: Person): Promise<Alert | undefined> =>
      db.transaction().execute(async (trx) => {
        const row = await trx
          .updateTable('reports')
          .set({ snoozed_until: until ?? null, snoozed_by: until ? by.userId : null })
          .where('id', '=', alert.id)
          .where('deleted_at', 'is', null)
          .returningAll()
          .executeTakeFirst();
        if (!row) return undefined;
        const detail = { until: until?.toISOString() ?? 'now' };
        const record = { tenant: alert.tenant, actor: by.userId, event: 'alert-snoozed' } as const;
        await audit.record({ ...record, subject: alert.id, detail }, trx);
        await editOpenIncidents(trx, alert.id, outbox);
        return readReport(row) as Alert;
      }),
    /** Looks at the next opportunity, whatever its hours. False where it is paused. */
    checkNow: (alert: Alert): Promise<boolean> =>
      db.transaction().execute(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('reports')
          .set({ next_due: now() })
          .where('id', '=', alert.id)
          .where('paused', 'is', null)
          .where('deleted_at', 'is', null)
          .executeTakeFirst();
        if (numUpdatedRows === 1n) await enqueueDue(enqueue, alert, { in: trx, at: now(), isFresh: true });
        return numUpdatedRows === 1n;
      }),
  };
}

/** Whether it was changed to another condition or other targets: what it found before says nothing about those. */
function checksOther({ subject }: Alert, { subject: before }: Alert): boolean {
  const { condition, targets } = subject;
  return (
    condition !== before.condition || targets.toSorted().join(' ') !== before.targets.toSorted().join(' ')
  );
}
