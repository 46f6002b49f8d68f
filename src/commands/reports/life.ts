import { type SqlBool, sql, type Updateable } from 'kysely';
import type { Person } from '../../auth/identity.ts';
import { UserError } from '../../errors.ts';
import { dayMs, minuteMs } from '../../lib/time.ts';
import type { Schema, Trx } from '../../store/schema.ts';
import {
  type Alert,
  type Digest,
  type Incident,
  isAlert,
  type Order,
  type Report,
  type ReportKind,
} from '../../views/reports/report.ts';
import { adaptIncidents } from './alerts/write.ts';
import { cancelPosts } from './digests/run-digest.ts';
import {
  type DigestPast,
  deletePlannedRuns,
  editIncident,
  editOpenIncidents,
  enqueueNext,
  enqueueRun,
  findFreeId,
  findIncident,
  findNextDue,
  findReport,
  insertRun,
  loadPast,
  orderColumns,
  ownerColumns,
  type ReportOptions,
  readIncident,
  readReport,
} from './store.ts';

export const undoMinutes = 15;

type Event = 'created' | 'changed' | 'paused' | 'taken-over' | 'deleted';

export type ReportService = ReturnType<typeof createReports>;

/**
 * What commands do with digests and alerts. They decide permissions; every change is audited in its transaction.
 * @throws UserError where another change of the same one came first.
 */
export function createReports(options: ReportOptions) {
  const { db, audit, enqueue, now, outbox } = options;

  async function recordAndPlan(
    trx: Trx,
    report: Report,
    by: Person,
    event: Event,
    detail: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { id: subject, kind, tenant } = report;
    await audit.record({ tenant, actor: by.userId, event: `${kind}-${event}`, subject, detail }, trx);
    await enqueueNext(enqueue, report, trx);
  }

  const change = <R extends Report>(
    before: R,
    by: Person,
    event: Event,
    changesFor: (planned: readonly Date[]) => Updateable<Schema['reports']>,
    detail: Readonly<Record<string, string>> = {},
  ): Promise<R> =>
    db.transaction().execute(async (trx) => {
      const { id, kind, revision } = before;
      const current = trx.selectFrom('reports').where((row) => row.and({ id, revision }));
      if (!(await current.select('id').forUpdate().executeTakeFirst())) throw createChangedError(kind);
      const planned = await deletePlannedRuns(trx, id);
      const row = await trx
        .updateTable('reports')
        .set({ ...changesFor(planned), failures: 0, revision: revision + 1 })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      const report = readReport(row);
      await recordAndPlan(trx, report, by, event, detail);
      if (isAlert(report)) await adaptIncidents(trx, report, before, { outbox, now: now() });
      else if (report.deletedAt) await cancelPosts(trx, id, outbox);
      return report as R;
    });
  const running = (order: Order, after = now()) => ({
    paused: null,
    paused_by: null,
    pause_notice: null,
    next_due: findNextDue(order, after),
  });
  return {
    ...createDigestWork(options),
    ...createAlertWork(options),
    /** For a new one, since its channel is told before it runs. */
    newId: (): Promise<string> => findFreeId(db),
    create: (owner: Person, order: Order, id?: string): Promise<Report> =>
      db.transaction().execute(async (trx) => {
        const row = await trx
          .insertInto('reports')
          .values({
            id: id ?? (await findFreeId(trx)),
            kind: 'schedule' in order ? 'digest' : 'alert',
            ...ownerColumns(owner),
            ...orderColumns(order),
            revision: 1,
            failures: 0,
            created_at: now(),
            next_due: findNextDue(order, now()),
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        const report = readReport(row);
        await recordAndPlan(trx, report, owner, 'created', describe(order));
        return report;
      }),
    /** Deleted ones too, as long as their deletion can be undone. */
    async find(tenant: string, id: string): Promise<Report | undefined> {
      const report = await findReport(db, id);
      return report?.tenant === tenant ? report : undefined;
    },
    async list(tenant: string): Promise<Report[]> {
      const rows = await db
        .selectFrom('reports')
        .selectAll()
        .where('tenant', '=', tenant)
        .where('deleted_at', 'is', null)
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map(readReport);
    },
    /** The person becomes its owner: it shows what their key can read. One that the bot paused runs again. */
    change: <R extends Report>(report: R, order: Order, by: Person) =>
      change(
        report,
        by,
        'changed',
        (planned) => {
          // A run that was due a moment ago and has not begun still runs.
          const since = Math.min(...planned.map((due) => due.getTime() - 1), now().getTime());
          const isPausedByHand = report.paused?.reason === 'by-hand';
          return {
            ...ownerColumns(by),
            ...orderColumns(order),
            ...(isPausedByHand ? {} : running(order, new Date(since))),
          };
        },
        describe(order),
      ),
    pause: <R extends Report>(report: R, by: Person) =>
      change(report, by, 'paused', () => ({
        paused: 'by-hand',
        paused_by: by.userId,
        pause_notice: null,
        next_due: null,
      })),
    resume: <R extends Report>(report: R, by: Person) =>
      change(report, by, 'changed', () => running(report), { resumed: 'yes' }),
    takeOver<R extends Report>(report: R, by: Person) {
      const changes = { ...running(report), ...ownerColumns(by) };
      return change(report, by, 'taken-over', () => changes, { from: report.owner.userId });
    },
    delete: <R extends Report>(report: R, by: Person) =>
      change(report, by, 'deleted', () => ({ deleted_at: now(), next_due: null })),
    /** Undoes a deletion; undefined where it is too late. */
    async restore<R extends Report>(report: R, by: Person): Promise<R | undefined> {
      const { deletedAt, paused } = report;
      if (!deletedAt || now().getTime() - deletedAt.getTime() > undoMinutes * minuteMs) return undefined;
      const changes = { ...(paused ? {} : running(report)), deleted_at: null };
      return change(report, by, 'changed', () => changes, { restored: 'yes' });
    },
  };
}

export function createChangedError(kind: ReportKind): UserError {
  return new UserError(
    `Somebody changed this ${kind} a moment ago, so nothing was changed.`,
    `See \`/cdn ${kind} list\` and try again.`,
  );
}

function describe({ channel, ...order }: Order): Readonly<Record<string, string>> {
  return 'schedule' in order
    ? { channel, kinds: order.subject.kinds.map(({ name }) => name).join(' ') }
    : { channel, condition: order.subject.condition.name };
}

function createAlertWork({ db, audit, enqueue, now, outbox }: ReportOptions) {
  return {
    /** What is open, or ended today, oldest first. `isUntold`: no place took its newest message. */
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
    /** It goes on checking. `until` undefined = ends the snooze. */
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
    /** Whatever its hours; not while it is paused. */
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

const doublePressMs = 5_000;

function createDigestWork({ db, enqueue, now }: ReportOptions) {
  return {
    /** How the last run of each digest of a tenant ended or goes. */
    async listLastRuns(tenant: string) {
      const runs = await db
        .selectFrom('report_runs')
        .innerJoin('reports', 'reports.id', 'report_id')
        .distinctOn('report_id')
        .select(['report_id', 'due', 'report_runs.state'])
        .where('tenant', '=', tenant)
        .where('report_runs.state', 'not in', ['due', 'cancelled'])
        .orderBy('report_id')
        .orderBy('due', 'desc')
        .execute();
      return new Map(runs.map((run) => [run.report_id, run]));
    },
    loadPast: ({ id }: Digest): Promise<DigestPast> => loadPast(db, id, now()),
    /** Runs at once. False where a run is on its way already, or the same person asked a moment ago. */
    runNow({ id }: Digest, { userId }: Person): Promise<boolean> {
      const due = now();
      const since = new Date(due.getTime() - doublePressMs);
      return db.transaction().execute(async (trx) => {
        // Simultaneous requests wait for each other.
        await trx.selectFrom('reports').select('id').where('id', '=', id).forUpdate().execute();
        const underWay = await trx
          .selectFrom('report_runs')
          .select('due')
          .where('report_id', '=', id)
          .where(
            sql<SqlBool>`(state = 'due' and (by_hand is not null or run_at <= ${due}::timestamptz)
              or state in ('collecting', 'sending')
              or (by_hand = ${userId} and state = 'sent' and due > ${since}::timestamptz))`,
          )
          .executeTakeFirst();
        if (underWay) return false;
        await insertRun(trx, { report_id: id, due, by_hand: userId });
        await enqueueRun(enqueue, { report_id: id, due }, { in: trx });
        return true;
      });
    },
  };
}
