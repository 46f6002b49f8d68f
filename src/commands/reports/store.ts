import { randomInt } from 'node:crypto';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { Audit } from '../../auth/audit/audit.ts';
import { type Installation, type People, type Person, tenantId } from '../../auth/identity.ts';
import type { Authorizer } from '../../auth/policy/authorizer.ts';
import type { Reason } from '../../auth/policy/policy.ts';
import { findNextRun } from '../../lib/schedule.ts';
import { minuteMs } from '../../lib/time.ts';
import { toLocalTime, toMinutes } from '../../lib/time-zone.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import type { JobContext, JobRef } from '../../store/queue/define-job.ts';
import type { Enqueue, EnqueueOptions } from '../../store/queue/queue.ts';
import type { Db, Schema, Trx } from '../../store/schema.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import type {
  Alert,
  AlertState,
  AlertSubject,
  Digest,
  DigestOrder,
  DigestSubject,
  Incident,
  IncidentFigures,
  Order,
  PauseReason,
  Report,
  WeekHours,
} from '../../views/reports/report.ts';
import type { Accounts } from './accounts/reads.ts';
import { findCondition, findDigestKind } from './checks/list.ts';

export interface ReportPorts {
  readonly accounts: Pick<Accounts, 'open'>;
  readonly outbox: Outbox;
  /** Decides by the current policy: a decision made when a job was stored is made again when it runs. */
  readonly authorizer: (person: Person) => Authorizer;
  readonly people: (installation: Installation) => People;
  readonly audit: Audit;
  readonly enqueue: Enqueue;
  /** A failure in words for a person, with the reference that is in the log. */
  readonly explain: (error: unknown, feature: string) => Failure;
  /** Whether people of another organisation read a channel, known for ten minutes. False where Slack does not say. */
  readonly isSharedOutside: (owner: Person, channel: string, signal: AbortSignal) => Promise<boolean>;
  readonly refused: (reason: Reason) => void;
  /** Counts a message about an incident that no place took. */
  readonly untold: () => void;
}

export type ReportContext = JobContext<ReportPorts>;

export interface ReportOptions extends Pick<ReportPorts, 'audit' | 'outbox' | 'people' | 'enqueue'> {
  readonly db: Db;
  readonly now: () => Date;
}

/** JSON in which conditions and kinds of digests are names. */
export function writeBody(body: object): string {
  return JSON.stringify(body, (key, value) => {
    if (key === 'condition') return (value as AlertSubject['condition']).name;
    return key === 'kinds' ? (value as DigestSubject['kinds']).map(({ name }) => name) : value;
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

export function isId(word: string): boolean {
  return /^[2-9bcdfghjkmnpqrstvwxz]{5}$/u.test(word);
}

/** Deleted ones too, as long as their deletion can be undone. */
export async function findReport(db: Db, id: string): Promise<Report | undefined> {
  const row = await db.selectFrom('reports').selectAll().where('id', '=', id).executeTakeFirst();
  return row && readReport(row);
}

export async function findDigest(db: Db, id: string): Promise<Digest | undefined> {
  const found = await findReport(db, id);
  return found?.kind === 'digest' ? found : undefined;
}

export async function findAlert(db: Db, id: string): Promise<Alert | undefined> {
  const found = await findReport(db, id);
  return found?.kind === 'alert' ? found : undefined;
}

export function readIncident(row: Selectable<Schema['report_incidents']>): Incident {
  return {
    id: row.id,
    alertId: row.report_id,
    kind: row.kind as Incident['kind'],
    openedAt: row.opened_at,
    closedAt: row.closed_at ?? undefined,
    figures: readBody(row.figures) as IncidentFigures,
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

/** When a report runs or checks next, after a moment. Checks stand on a grid of their minutes from midnight (UTC). */
export function findNextDue(order: Order, after: Date): Date {
  if ('schedule' in order) return findNextRun(order.schedule, after);
  const { every, hours, timeZone: zone } = order.subject;
  const step = every * minuteMs;
  const next = new Date((Math.floor(after.getTime() / step) + 1) * step);
  if (!hours || isWithin(hours, zone, next)) return next;
  return findNextRun({ time: hours.from, zone, weekdays: hours.weekdays, monthDays: [] }, after);
}

export function isWithin({ weekdays, from, until }: WeekHours, timeZone: string, at: Date): boolean {
  const { minutes: minute, weekday: today } = toLocalTime(timeZone, at);
  const yesterday = today === 1 ? 7 : today - 1;
  const [start, end] = [toMinutes(from), toMinutes(until)];
  if (start < end) return weekdays.includes(today) && minute >= start && minute < end;
  return (weekdays.includes(today) && minute >= start) || (weekdays.includes(yesterday) && minute < end);
}

/** `isFresh`: a person asked for it, and wants what is there now. */
export const dueData = z.object({ tenant: z.string(), owner: z.string(), isFresh: z.boolean().optional() });
export const runData = z.object({ digestId: z.string(), due: z.iso.datetime() });

/** Runs everything of a person that is due, then waits for the next: one waiting job a person. */
export const reportsDue: JobRef<z.input<typeof dueData>> = {
  name: 'reports-due',
  onePerKey: 'waiting',
  // A check that fails is repeated by its alert; this is for processes that die.
  retries: 3,
  timeLimitSeconds: 4 * 60,
  // Most of the time of a check is waiting for the CDN.
  atOnce: 3,
  encode: (data) => dueData.parse(data),
};

export const digestRun: JobRef<z.input<typeof runData>> = {
  name: 'digest-run',
  onePerKey: 'running',
  // Kills count; a CDN that is down is retried by the run itself.
  retries: 10,
  timeLimitSeconds: 4 * 60,
  atOnce: 3,
  encode: (data) => runData.parse(data),
};

/**
 * Enqueues the job of a person, or moves it to when the first of their reports is due. `now`: at that moment, and nothing
 * that was read before counts.
 */
export async function enqueueNext(
  enqueue: Enqueue,
  { tenant, owner: { userId: owner } }: { readonly tenant: string; readonly owner: Pick<Person, 'userId'> },
  trx: Trx,
  { now, ...options }: Pick<EnqueueOptions, 'unlessUnderWay'> & { readonly now?: Date } = {},
): Promise<void> {
  const row = await trx
    .selectFrom('reports')
    .select('next_due')
    .where((is) => is.and({ tenant, owner }))
    .where('paused', 'is', null)
    .where('deleted_at', 'is', null)
    .where('next_due', 'is not', null)
    .orderBy('next_due')
    .limit(1)
    .executeTakeFirst();
  const at = now ?? row?.next_due ?? undefined;
  const data = { tenant, owner, isFresh: now !== undefined };
  if (at) await enqueue(reportsDue, data, { ...options, in: trx, at, key: `${tenant}:${owner}`, tenant });
}

export async function enqueueRun(
  enqueue: Enqueue,
  { report_id: digestId, due }: { readonly report_id: string; readonly due: Date },
  options: { readonly in?: Trx; readonly at?: Date } = {},
): Promise<void> {
  const data = { digestId, due: due.toISOString() };
  await enqueue(digestRun, data, { ...options, key: `${digestId} ${data.due}` });
}
