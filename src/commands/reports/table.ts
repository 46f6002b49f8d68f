import { randomInt } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import { type Person, tenantId } from '../../auth/identity.ts';
import type { Db, Schema } from '../../store/schema.ts';
import type {
  AlertState,
  AlertSubject,
  DigestOrder,
  Incident,
  IncidentFigures,
  Order,
  PauseReason,
  Report,
  ReportKind,
} from '../../views/reports/report.ts';
import { findCondition, findDigestKind } from './checks/list.ts';

export type ReportOf<Kind extends ReportKind> = Extract<Report, { readonly kind: Kind }>;

/** JSON in which conditions and kinds of digests are names. */
export function writeBody(body: object): string {
  return JSON.stringify(body, (key, value) => {
    if (key === 'condition') return (value as AlertSubject['condition']).name;
    return key === 'kinds' ? (value as DigestOrder['subject']['kinds']).map(({ name }) => name) : value;
  });
}

function readBody(text: string): unknown {
  return JSON.parse(text, (key, value) => {
    if (key === 'condition') return findCondition(value as string);
    return key === 'kinds' ? (value as string[]).map(findDigestKind) : value;
  });
}

export function readReport(row: Selectable<Schema['reports']>): Report {
  const { snoozed_until: until, snoozed_by: by } = row;
  const shared = {
    id: row.id,
    tenant: row.tenant,
    owner: { enterpriseId: row.enterprise_id ?? undefined, teamId: row.team_id, userId: row.owner },
    channel: row.channel,
    revision: row.revision,
    paused:
      row.paused === null ? undefined : { reason: row.paused as PauseReason, by: row.paused_by ?? undefined },
    deletedAt: row.deleted_at ?? undefined,
    nextDue: row.next_due ?? undefined,
  };
  if (row.kind === 'digest')
    return { kind: 'digest', ...(readBody(row.body) as Omit<DigestOrder, 'channel'>), ...shared };
  return {
    kind: 'alert',
    ...shared,
    subject: readBody(row.body) as AlertSubject,
    checkedAt: row.checked_at ?? undefined,
    snoozed: until === null || by === null ? undefined : { until, by },
    heartbeatAt: row.heartbeat_at ?? undefined,
    state: JSON.parse(row.state ?? '{"recent":[]}') as AlertState,
  };
}

export function ownerColumns(owner: Person) {
  return {
    tenant: tenantId(owner),
    enterprise_id: owner.enterpriseId ?? null,
    team_id: owner.teamId,
    owner: owner.userId,
  };
}

/** Place and content. */
export function orderColumns({ channel, ...order }: Order) {
  const { subject } = order;
  const body = 'schedule' in order ? { subject, schedule: order.schedule } : subject;
  return { channel, body: writeBody(body) };
}

/** A short id that no report has, since people type ids. Without vowels, so that it never is a word, and without look-alikes. */
export async function findFreeId(db: Db): Promise<string> {
  const id = Array.from({ length: 5 }, () => letters.charAt(randomInt(letters.length))).join('');
  return (await findReport(db, id)) ? findFreeId(db) : id;
}
const letters = '23456789bcdfghjkmnpqrstvwxz';

/** Deleted ones too, as long as their deletion can be undone. */
export async function findReport(db: Db, id: string): Promise<Report | undefined> {
  const row = await db.selectFrom('reports').selectAll().where('id', '=', id).executeTakeFirst();
  return row && readReport(row);
}

const createFind =
  <Kind extends ReportKind>(kind: Kind) =>
  async (db: Db, id: string): Promise<ReportOf<Kind> | undefined> => {
    const found = await findReport(db, id);
    return found?.kind === kind ? (found as ReportOf<Kind>) : undefined;
  };
export const findDigest = createFind('digest');
export const findAlert = createFind('alert');

/** All of a tenant that are not deleted, oldest first. */
export async function listReports(db: Db, tenant: string): Promise<Report[]> {
  const rows = await db
    .selectFrom('reports')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(readReport);
}

/** Counts a failed run; returns the number of consecutive ones. */
export async function countFailure(db: Db, id: string): Promise<number> {
  const row = await db
    .updateTable('reports')
    .set({ failures: sql<number>`failures + 1` })
    .where('id', '=', id)
    .returning('failures')
    .executeTakeFirst();
  return row?.failures ?? 0;
}

export function readIncident(row: Selectable<Schema['report_incidents']>): Incident {
  return {
    id: row.id,
    alertId: row.report_id,
    kind: row.kind as Incident['kind'],
    openedAt: row.opened_at,
    closedAt: row.closed_at ?? undefined,
    figures: readBody(row.figures) as IncidentFigures,
    replies: row.replies,
    message: row.message ?? undefined,
    acknowledged:
      row.acknowledged_by === null || row.acknowledged_at === null
        ? undefined
        : { by: row.acknowledged_by, at: row.acknowledged_at },
  };
}

export async function findIncident(db: Db, id: string): Promise<Incident | undefined> {
  const row = await db.selectFrom('report_incidents').selectAll().where('id', '=', id).executeTakeFirst();
  return row && readIncident(row);
}

/** The open incident of each kind. */
export async function findOpenIncidents(
  db: Db,
  alertId: string,
): Promise<Partial<Record<Incident['kind'], Incident>>> {
  const rows = await db
    .selectFrom('report_incidents')
    .selectAll()
    .where('report_id', '=', alertId)
    .where('closed_at', 'is', null)
    .execute();
  return Object.fromEntries(rows.map((row) => [row.kind, readIncident(row)]));
}

/** Incidents that ended after this moment while their message was on its way, and that nobody has read. */
export async function findUntoldIncidents(db: Db, alertId: string, since: Date): Promise<Incident[]> {
  const rows = await db
    .selectFrom('report_incidents')
    .innerJoin('outbox', 'outbox.id', 'report_incidents.message')
    .selectAll('report_incidents')
    .where('report_id', '=', alertId)
    .where('closed_at', '>', since)
    .where('outbox.state', 'in', ['dead', 'unknown'])
    .execute();
  return rows.map(readIncident);
}
