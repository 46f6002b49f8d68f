import type { Updateable } from 'kysely';
import type { AuditEvent } from '../../auth/audit/audit.ts';
import type { Person } from '../../auth/identity.ts';
import { minuteMs } from '../../lib/time.ts';
import type { Db, Schema, Trx } from '../../store/schema.ts';
import type { ReportKind, ReportPorts, Scheduled } from './model.ts';
import { enqueueNext } from './queue.ts';
import {
  findRow,
  insertReport,
  type OrderColumns,
  ownerColumns,
  type ReportRow,
  readReport,
} from './table.ts';

/** How long a deletion can be undone. */
export const undoMinutes = 15;

export interface LifeOptions extends Pick<ReportPorts, 'audit' | 'outbox' | 'people' | 'enqueue'> {
  readonly db: Db;
  readonly now: () => Date;
}

/** How digests or alerts differ. */
interface Differences<Item, Order> {
  readonly toColumns: (order: Order) => OrderColumns;
  readonly findNextRun: (order: Order, after: Date) => Date;
  /** For the audit. */
  readonly describe: (order: Order) => Readonly<Record<string, string>>;
  /** Takes back runs that are stored and have not begun; returns the moments they were due. */
  readonly takeBackRuns?: (trx: Trx, ids: readonly string[]) => Promise<Date[]>;
  /** In the transaction of each change. `before`: as it was seen by whoever changes it. */
  readonly changed: (trx: Trx, item: Item, before: Item) => Promise<void>;
}

/**
 * Digests or alerts as commands work with them: who owns them, and whether they run. Permissions are the commands'
 * matter; every change is audited in its transaction, and returns undefined where another change of the same one came
 * first.
 */
export function createLife<Item extends Scheduled & Order, Order>(
  kind: ReportKind,
  options: LifeOptions,
  { toColumns, findNextRun, describe, takeBackRuns, changed }: Differences<Item, Order>,
) {
  const { db, audit, now } = options;

  // Of this kind, as each row that is read here.
  const read = (row: ReportRow): Item => readReport(row) as Scheduled as Item;

  /** One change with its record; the next run moves with it. */
  const change = (
    before: Item,
    by: Person,
    event: AuditEvent,
    changesFor: (planned: readonly Date[]) => Updateable<Schema['reports']>,
    detail: Readonly<Record<string, string>> = {},
  ): Promise<Item | undefined> =>
    db.transaction().execute(async (trx) => {
      const { id, revision } = before;
      const current = trx.selectFrom('reports').where((row) => row.and({ id, revision }));
      if (!(await current.select('id').forUpdate().executeTakeFirst())) return undefined;
      const planned = (await takeBackRuns?.(trx, [id])) ?? [];
      const row = await trx
        .updateTable('reports')
        .set({ ...changesFor(planned), failures: 0, revision: revision + 1 })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      await audit.record({ tenant: row.tenant, actor: by.userId, event, subject: id, detail }, trx);
      const item = read(row);
      await enqueueNext(options.enqueue, item, trx);
      await changed(trx, item, before);
      return item;
    });
  const running = (order: Order, after = now()) => ({
    paused: null,
    paused_by: null,
    paused_at: null,
    pause_notice: null,
    next_due: findNextRun(order, after),
  });
  return {
    /** Stores a new one. It does not run before `begin`: first its channel is told. */
    create: async (owner: Person, order: Order): Promise<Item> =>
      read(await insertReport(db, kind, { owner, order: toColumns(order), at: now() })),
    begin: (item: Item, by: Person) =>
      change(item, by, `${kind}-created`, () => running(item), describe(item)),
    /** Takes back one that never began. */
    async discard({ id }: Item): Promise<void> {
      await db.deleteFrom('reports').where('id', '=', id).execute();
    },
    /** Deleted ones too, as long as their deletion can be undone. */
    async find(tenant: string, id: string): Promise<Item | undefined> {
      const row = await findRow(db, id);
      return row?.tenant === tenant && row.kind === kind ? read(row) : undefined;
    },
    /** The person becomes its owner: it shows what their key can read. One that the bot paused runs again. */
    change: (item: Item, order: Order, by: Person) =>
      change(
        item,
        by,
        `${kind}-changed`,
        (planned) => {
          // A run that was due a moment ago and has not begun still runs.
          const since = Math.min(...planned.map((due) => due.getTime() - 1), now().getTime());
          const isPausedByHand = item.paused?.reason === 'by-hand';
          return {
            ...ownerColumns(by),
            ...toColumns(order),
            ...(isPausedByHand ? {} : running(order, new Date(since))),
          };
        },
        describe(order),
      ),
    pause: (item: Item, by: Person) =>
      change(item, by, `${kind}-paused`, () => ({
        paused: 'by-hand',
        paused_by: by.userId,
        paused_at: now(),
        pause_notice: null,
        next_due: null,
      })),
    resume: (item: Item, by: Person) =>
      change(item, by, `${kind}-changed`, () => running(item), { resumed: 'yes' }),
    takeOver(item: Item, by: Person) {
      const changes = { ...running(item), ...ownerColumns(by) };
      return change(item, by, `${kind}-taken-over`, () => changes, { from: item.owner.userId });
    },
    delete: (item: Item, by: Person) =>
      change(item, by, `${kind}-deleted`, () => ({ deleted_at: now(), next_due: null })),
    /** Undoes a deletion, as long as it can be. */
    async restore(item: Item, by: Person): Promise<Item | undefined> {
      const { deletedAt, paused } = item;
      if (!deletedAt || now().getTime() - deletedAt.getTime() > undoMinutes * minuteMs) return undefined;
      const changes = { ...(paused ? {} : running(item)), deleted_at: null };
      return change(item, by, `${kind}-changed`, () => changes, { restored: 'yes' });
    },
  };
}

export type Life<Item extends Scheduled & Order, Order = unknown> = ReturnType<
  typeof createLife<Item, Order>
>;
