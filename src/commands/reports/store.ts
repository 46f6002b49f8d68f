import { randomInt } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import { z } from 'zod';
import type { Audit } from '../../auth/audit/audit.ts';
import { type Installation, type People, type Person, tenantId } from '../../auth/identity.ts';
import type { Authorizer } from '../../auth/policy/authorizer.ts';
import type { Reason } from '../../auth/policy/policy.ts';
import { findNextRun } from '../../lib/schedule.ts';
import { minuteMs } from '../../lib/time.ts';
import { toLocalTime, toMinutes } from '../../lib/time-zone.ts';
import type { DeliverPorts } from '../../outbox/deliver.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import type { Enqueue, EnqueueOptions, JobContext, JobRef } from '../../store/queue.ts';
import type { Db, Schema, Trx } from '../../store/schema.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import type { Section } from '../../views/reports/digests/post.ts';
import type {
  AlertState,
  AlertSubject,
  DigestOrder,
  DigestSubject,
  Incident,
  IncidentFigures,
  Order,
  PauseReason,
  Report,
  ReportKind,
  ReportOf,
  WeekHours,
} from '../../views/reports/report.ts';
import type { Accounts } from './accounts.ts';
import { type DigestKindName, findCondition, findDigestKind } from './checks/list.ts';

export interface ReportPorts {
  readonly accounts: Pick<Accounts, 'open'>;
  readonly outbox: Outbox;
  readonly authorizer: (person: Person) => Authorizer;
  readonly people: (installation: Installation) => People;
  readonly audit: Audit;
  readonly enqueue: Enqueue;
  readonly explain: (error: unknown, feature: string) => Failure;
  readonly readAudience: DeliverPorts['readAudience'];
  readonly refused: (reason: Reason) => void;
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
    subject: readSubject(row.body),
    checkedAt: row.checked_at ?? undefined,
    snoozed: until === null || by === null ? undefined : { until, by },
    heartbeatAt: row.heartbeat_at ?? undefined,
    state: JSON.parse(row.state ?? '{"recent":[]}') as AlertState,
  };
}

/** With the initial values of settings that nobody has chosen. */
function readSubject(body: string): AlertSubject {
  const stored = readBody(body) as AlertSubject;
  const { threshold, window } = stored.condition;
  const initial = { threshold: threshold?.initial ?? 0, window: window?.initial ?? 0 };
  return { ...initial, ...stored };
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

/** People type it. Without vowels it is no word; without look-alikes. */
export async function findFreeId(db: Db): Promise<string> {
  const id = Array.from({ length: 5 }, () => letters.charAt(randomInt(letters.length))).join('');
  return (await findReport(db, id)) ? findFreeId(db) : id;
}
const letters = '23456789bcdfghjkmnpqrstvwxz';

export function isId(word: string): boolean {
  return /^[2-9bcdfghjkmnpqrstvwxz]{5}$/u.test(word);
}

/** Deleted ones too, as long as their deletion can be undone. */
export async function findReport<Kind extends ReportKind = ReportKind>(
  db: Db,
  id: string,
  kind?: Kind,
): Promise<ReportOf<Kind> | undefined> {
  const row = await db.selectFrom('reports').selectAll().where('id', '=', id).executeTakeFirst();
  const found = row && (kind === undefined || row.kind === kind) ? readReport(row) : undefined;
  return found as ReportOf<Kind> | undefined;
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

/** Renders the messages of open incidents again: what they say of their alert has changed. */
export async function editOpenIncidents(trx: Trx, alertId: string, outbox: Outbox): Promise<void> {
  for (const incident of Object.values(await findOpenIncidents(trx, alertId)))
    await editIncident(trx, incident, outbox);
}

export async function editIncident(trx: Trx, { message }: Incident, outbox: Outbox): Promise<void> {
  if (message !== undefined) await outbox.edit(trx, message);
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
  retries: 3,
  timeLimitSeconds: 4 * 60,
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

/** Enqueues the job of a person, or moves it to the first due moment. `now`: at that moment, with fresh readings. */
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

/** Rises when figures are drawn from other members: a post of an earlier version that still waits is made again. */
export const figuresForm = 3;

/** What a run found: plain data, stored as JSON. By kind what later runs compare with, and what its post says of it. */
export interface Collected
  extends Readonly<Partial<Record<DigestKindName, unknown>>>,
    Pick<DigestSubject, 'only' | 'timeZone'> {
  /** ISO text. */
  readonly at: string;
  readonly form: number;
  readonly sections: Readonly<Partial<Record<DigestKindName, Section>>>;
  readonly unread: readonly UnreadPart[];
}

export interface UnreadPart extends Pick<Failure, 'message' | 'reference'> {
  readonly kind: DigestKindName;
  /** Which zone, shield zone or app; absent: all of the kind. */
  readonly what?: string | undefined;
}

/** What the last post told, to name what is new. Stored as JSON, one a digest. */
export interface DigestBaseline {
  readonly byKind: Readonly<Partial<Record<DigestKindName, unknown>>>;
}

/** What a run compares with: what earlier runs found, newest first, and the baseline. */
export interface DigestPast {
  readonly history: readonly Collected[];
  readonly baseline: DigestBaseline | undefined;
}

export type RunRow = Selectable<Schema['report_runs']>;
export type RunKey = Pick<RunRow, 'report_id' | 'due'>;

/**
 * `due` → `collecting` → `sending` (its post is in the outbox) → `sent`; or, in the end, `quiet` (its threshold asks for
 * silence), `skipped`, `failed`, `unknown` (Slack gave no answer to the post) or `cancelled`.
 */
export type RunState = 'due' | 'collecting' | 'sending' | 'quiet' | 'unknown' | 'cancelled' | FinalPost;
export type FinalPost = 'sent' | 'skipped' | 'failed';

export async function insertRun(
  trx: Trx,
  run: RunKey & Partial<Pick<RunRow, 'missed' | 'by_hand'>>,
): Promise<void> {
  await trx
    .insertInto('report_runs')
    .values({ run_at: run.due, state: 'due', missed: 0, attempts: 0, ...run })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Undefined where the run is further already, or was taken back. */
export function beginAttempt(db: Db, { report_id, due }: RunKey): Promise<RunRow | undefined> {
  return db
    .updateTable('report_runs')
    .set({ state: 'collecting', attempts: sql<number>`attempts + 1` })
    .where((row) => row.and({ report_id, due }))
    .where('state', 'in', ['due', 'collecting'])
    .returningAll()
    .executeTakeFirst();
}

/** Moves a run on. False where it is not in that state, or another attempt has overtaken this one. */
export async function moveRun(
  db: Db,
  { report_id, due, attempts }: Pick<RunRow, 'report_id' | 'due' | 'attempts'>,
  state: RunState,
  to: RunState,
  changes: Partial<Pick<RunRow, 'run_at' | 'figures'>> = {},
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('report_runs')
    .set({ ...changes, state: to })
    .where((row) => row.and({ report_id, due, attempts, state }))
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

const mostHistory = 60;

/** From runs that posted or stayed silent. */
export async function loadPast(db: Db, digestId: string, before: Date): Promise<DigestPast> {
  const runs = await db
    .selectFrom('report_runs')
    .select('figures')
    .where('report_id', '=', digestId)
    .where('due', '<', before)
    .where('state', 'in', ['sent', 'quiet'])
    .where('figures', 'is not', null)
    .orderBy('due', 'desc')
    .limit(mostHistory)
    .execute();
  const history = runs.map(({ figures }) => JSON.parse(figures ?? '') as Collected);
  const current = db.selectFrom('report_baselines').select('body').where('report_id', '=', digestId);
  const { body = null } = (await current.executeTakeFirst()) ?? {};
  return { history, baseline: body === null ? undefined : (JSON.parse(body) as DigestBaseline) };
}

/** Becomes the baseline when its run is posted. The run that was collected last wins. */
export async function storePendingBaseline(
  db: Db,
  { report_id, due }: RunKey,
  baseline: DigestBaseline,
): Promise<void> {
  const next = { next_body: JSON.stringify(baseline), next_due: due };
  await db
    .insertInto('report_baselines')
    .values({ report_id, ...next })
    .onConflict((conflict) => conflict.column('report_id').doUpdateSet(next))
    .execute();
}

/** Nothing changes where another run was collected since: its findings may be reported again, and nothing is lost. */
export async function acceptBaseline(db: Db, { report_id, due }: RunKey): Promise<void> {
  await db
    .updateTable('report_baselines')
    .set({ body: sql<string>`next_body`, next_body: null, next_due: null })
    .where((row) => row.and({ report_id, next_due: due }))
    .execute();
}
