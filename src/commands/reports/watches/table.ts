import type { Selectable } from 'kysely';
import type { Db, Schema } from '../../../store/schema.ts';
import { watchCustody } from '../../../views/reports/watches/custody.ts';
import type { ScheduledTable } from '../schedules/model.ts';
import { definePauses } from '../schedules/pauses.ts';
import { readScheduled } from '../schedules/rows.ts';
import type { Incident, IncidentFigures, Watch, WatchState, WatchSubject } from './model.ts';

export const watchTable: ScheduledTable<Watch> = {
  name: 'watches',
  noun: 'watch',
  read: (row) => readWatch(row as Selectable<Schema['watches']>),
};

export const watchPauses = definePauses(watchTable, watchCustody);

function readWatch(row: Selectable<Schema['watches']>): Watch {
  return {
    ...readScheduled(row),
    subject: JSON.parse(row.body) as WatchSubject,
    looks: row.looks,
    lookedAt: row.looked_at ?? undefined,
    snoozed:
      row.snoozed_until === null || row.snoozed_by === null
        ? undefined
        : { until: row.snoozed_until, by: row.snoozed_by },
    aliveAt: row.alive_at ?? undefined,
    state: JSON.parse(row.state ?? '{"recent":[]}') as WatchState,
  };
}

export function readIncident(row: Selectable<Schema['watch_incidents']>): Incident {
  return {
    id: row.id,
    watchId: row.watch_id,
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
  watchId: string,
): Promise<Partial<Record<Incident['kind'], Incident>>> {
  const rows = await db
    .selectFrom('watch_incidents')
    .selectAll()
    .where('watch_id', '=', watchId)
    .where('closed_at', 'is', null)
    .execute();
  return Object.fromEntries(rows.map((row) => [row.kind, readIncident(row)]));
}

/** Incidents that ended after this moment while their message was on its way, and that nobody has read. */
export async function findUntoldIncidents(db: Db, watchId: string, since: Date): Promise<Incident[]> {
  const rows = await db
    .selectFrom('watch_incidents')
    .innerJoin('outbox', 'outbox.id', 'watch_incidents.message')
    .selectAll('watch_incidents')
    .where('watch_id', '=', watchId)
    .where('closed_at', '>', since)
    .where('outbox.state', 'in', ['dead', 'unknown'])
    .execute();
  return rows.map(readIncident);
}
