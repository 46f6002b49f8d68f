import type { Updateable } from 'kysely';
import type { Person } from '../../auth/identity.ts';
import { UserError } from '../../errors.ts';
import { minuteMs } from '../../lib/time.ts';
import type { Schema, Trx } from '../../store/schema.ts';
import { findNextCheck } from './alerts/hours.ts';
import { createAlertWork } from './alerts/service.ts';
import { adaptIncidents } from './alerts/write.ts';
import { cancelPosts } from './digests/run-digest.ts';
import { createDigestWork, deletePlannedRuns } from './digests/runs.ts';
import { isAlert, type Order, type Report, type ReportKind, type ReportOptions } from './model.ts';
import { enqueueNext } from './queue.ts';
import { findNextRun } from './schedule.ts';
import { findFreeId, findReport, listReports, orderColumns, ownerColumns, readReport } from './table.ts';

/** How long a deletion can be undone. */
export const undoMinutes = 15;

type Event = 'created' | 'changed' | 'paused' | 'taken-over' | 'deleted';

export type ReportService = ReturnType<typeof createReports>;

/**
 * Digests and alerts as commands work with them: who owns them, and whether they run. Permissions are the commands'
 * matter; every change is audited in its transaction.
 *
 * @throws UserError where another change of the same one came first.
 */
export function createReports(options: ReportOptions) {
  const { db, audit, enqueue, now, outbox } = options;

  async function recordAndPlan(
    trx: Trx,
    report: Report,
    { by, event, detail }: { by: Person; event: Event; detail: Readonly<Record<string, string>> },
  ): Promise<void> {
    const { id: subject, kind, tenant } = report;
    await audit.record({ tenant, actor: by.userId, event: `${kind}-${event}`, subject, detail }, trx);
    await enqueueNext(enqueue, report, trx);
  }

  /** One change with its record; the next run moves with it. */
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
      const planned = await deletePlannedRuns(trx, [id]);
      const row = await trx
        .updateTable('reports')
        .set({ ...changesFor(planned), failures: 0, revision: revision + 1 })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      const report = readReport(row);
      await recordAndPlan(trx, report, { by, event, detail });
      if (isAlert(report)) await adaptIncidents(trx, report, before, { outbox, now: now() });
      else if (report.deletedAt) await cancelPosts(trx, id, outbox);
      return report as R;
    });
  const running = (order: Order, after = now()) => ({
    paused: null,
    paused_by: null,
    paused_at: null,
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
        await recordAndPlan(trx, report, { by: owner, event: 'created', detail: describe(order) });
        return report;
      }),
    /** Deleted ones too, as long as their deletion can be undone. */
    async find(tenant: string, id: string): Promise<Report | undefined> {
      const report = await findReport(db, id);
      return report?.tenant === tenant ? report : undefined;
    },
    /** All of a tenant that are not deleted, oldest first. */
    list: (tenant: string): Promise<Report[]> => listReports(db, tenant),
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
        paused_at: now(),
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

function findNextDue(order: Order, after: Date): Date {
  return 'schedule' in order ? findNextRun(order.schedule, after) : findNextCheck(order.subject, after);
}

/** For the audit. */
function describe({ channel, ...order }: Order): Readonly<Record<string, string>> {
  return 'schedule' in order
    ? { channel, kinds: order.subject.kinds.join(' ') }
    : { channel, condition: order.subject.condition };
}
