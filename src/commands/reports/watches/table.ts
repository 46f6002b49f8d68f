import type { Selectable } from 'kysely';
import type { Db, Schema } from '../../../store/schema.ts';
import { alertCard } from '../../../views/reports/card.ts';
import type { ScheduledTable } from '../schedules/model.ts';
import { definePauses } from '../schedules/pauses.ts';
import { readScheduled } from '../schedules/rows.ts';
import type { Alert, AlertState, AlertSubject, Incident, IncidentFigures } from './model.ts';

export const alertTable: ScheduledTable<Alert> = {
  name: 'watches',
  noun: 'alert',
  read: (row) => readAlert(row as Selectable<Schema['watches']>),
};

export const alertPauses = definePauses(alertTable, alertCard);

function readAlert(row: Selectable<Schema['watches']>): Alert {
  return {
    ...readScheduled(row),
    subject: JSON.parse(row.body) as AlertSubject,
    looks: row.looks,
    lookedAt: row.looked_at ?? undefined,
    snoozed:
      row.snoozed_until === null || row.snoozed_by === null
        ? undefined
        : { until: row.snoozed_until, by: row.snoozed_by },
    aliveAt: row.alive_at ?? undefined,
    state: JSON.parse(row.state ?? '{"recent":[]}') as AlertState,
  };
}

export function readIncident(row: Selectable<Schema['watch_incidents']>): Incident {
  return {
    id: row.id,
    alertId: row.watch_id,
    kind: row.kind as Incident['kind'],
    openedAt: row.opened_at,
    closedAt: row.closed_at ?? undefined,
    figures: JSON.parse(row.figures) as IncidentFigures,
    replies: row.replies,
    // Rows of before have no id: the one message they may have put is called after them.
    message: row.message ?? (row.told ? `watch:${row.id}` : undefined),
    acknowledged:
      row.acknowledged_by === null || row.acknowledged_at === null
        ? undefined
        : { by: row.acknowledged_by, at: row.acknowledged_at },
  };
}

export async function findIncident(db: Db, id: string): Promise<Incident | undefined> {
  const row = await db.selectFrom('watch_incidents').selectAll().where('id', '=', id).executeTakeFirst();
  return row && readIncident(row);
}

/** The open incident of each kind. */
export async function findOpenIncidents(
  db: Db,
  alertId: string,
): Promise<Partial<Record<Incident['kind'], Incident>>> {
  const rows = await db
    .selectFrom('watch_incidents')
    .selectAll()
    .where('watch_id', '=', alertId)
    .where('closed_at', 'is', null)
    .execute();
  return Object.fromEntries(rows.map((row) => [row.kind, readIncident(row)]));
}

/** Incidents that ended after this moment while their message was on its way, and that nobody has read. */
export async function findUntoldIncidents(db: Db, alertId: string, since: Date): Promise<Incident[]> {
  const rows = await db
    .selectFrom('watch_incidents')
    .innerJoin('outbox', 'outbox.id', 'watch_incidents.message')
    .selectAll('watch_incidents')
    .where('watch_id', '=', alertId)
    .where('closed_at', '>', since)
    .where('outbox.state', 'in', ['dead', 'unknown'])
    .execute();
  return rows.map(readIncident);
}
