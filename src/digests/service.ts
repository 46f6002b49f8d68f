import { randomInt } from 'node:crypto';
import type { Updateable } from 'kysely';
import type { AuditEvent } from '../auth/audit/audit.ts';
import type { Person } from '../auth/identity.ts';
import type { OffboardingHook } from '../auth/offboarding.ts';
import { minuteMs } from '../lib/time.ts';
import { findNextRun, type Schedule } from '../schedules/schedule.ts';
import type { Db, Schema, Trx } from '../store/schema.ts';
import { cancelPosts } from './messages.ts';
import type { Digest, DigestOrder, DigestPast, DigestPorts } from './model.ts';
import { pauseDigests } from './pause.ts';
import { findDigest, insertDigest, orderColumns, ownerColumns, readDigest } from './queries/digests.ts';
import { deletePlannedRuns, loadPast, type RunKey, storeManualRun } from './queries/runs.ts';
import { enqueueNextRun, enqueueRun } from './schedule-runs.ts';

/** How long a deletion can be undone. */
export const undoMinutes = 15;

interface Options extends Pick<DigestPorts, 'audit' | 'outbox' | 'people' | 'enqueue'> {
  readonly db: Db;
  readonly now: () => Date;
}

export type DigestService = ReturnType<typeof createDigestService>;

/**
 * Digests as commands work with them. Permissions are the commands' matter; every change is audited in its transaction,
 * and returns undefined where another change of the same digest came first.
 */
export function createDigestService(options: Options) {
  const { db, audit, enqueue, now } = options;

  /** One change of one digest with its record; its next run moves with it. */
  const change = (
    { id, revision }: Digest,
    by: Person,
    event: AuditEvent,
    changesFor: (planned: readonly Date[]) => Updateable<Schema['digests']>,
    detail: Readonly<Record<string, string>> = {},
  ): Promise<Digest | undefined> =>
    db.transaction().execute(async (trx) => {
      const current = trx.selectFrom('digests').where((row) => row.and({ id, revision }));
      if (!(await current.select('id').forUpdate().executeTakeFirst())) return undefined;
      const planned = await deletePlannedRuns(trx, [id]);
      const row = await trx
        .updateTable('digests')
        .set({ ...changesFor(planned), failures: 0, revision: revision + 1 })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      await audit.record({ tenant: row.tenant, actor: by.userId, event, subject: id, detail }, trx);
      const changed = readDigest(row);
      await enqueueNextRun(enqueue, changed, trx);
      if (changed.deletedAt) await cancelPosts(trx, id, options.outbox);
      return changed;
    });
  const running = (schedule: Schedule, after = now()) => ({
    paused: null,
    paused_by: null,
    paused_at: null,
    pause_notice: null,
    next_due: findNextRun(schedule, after),
  });
  /** Stores or reopens a run, with its job. */
  const begin = (key: RunKey, store: (trx: Trx) => Promise<boolean>): Promise<boolean> =>
    db.transaction().execute(async (trx) => {
      const isStored = await store(trx);
      if (isStored) await enqueueRun(enqueue, key, { in: trx });
      return isStored;
    });
  /** Pauses the digests of a person or a tenant whose keys are gone. */
  const pauseFor: OffboardingHook = async ({ person, tenant }) => {
    const which = person ? { tenant, owner: person.userId } : { tenant };
    const pause = { reason: person ? 'owner-gone' : 'uninstalled', at: now() } as const;
    await db.transaction().execute(async (trx) => {
      const paused = await pauseDigests(trx, which, pause, options);
      const ids = paused.map(({ id }) => id);
      await deletePlannedRuns(trx, ids);
    });
  };

  return {
    pauseFor,
    /** Stores a new digest. It does not run before `begin`: first its channel is told. */
    async create(owner: Person, order: DigestOrder): Promise<Digest> {
      for (;;) {
        const digest = await insertDigest(db, { id: newId(), owner, order, at: now() });
        if (digest) return digest;
      }
    },
    begin: (digest: Digest, by: Person) =>
      change(digest, by, 'digest-created', () => running(digest.schedule), describe(digest)),
    /** Takes back a digest that never began. */
    async discard({ id }: Digest): Promise<void> {
      await db.deleteFrom('digests').where('id', '=', id).execute();
    },
    /** Every digest of a tenant that is not deleted, oldest first, with how its last run ended or goes. */
    async list(tenant: string) {
      const rows = await db
        .selectFrom('digests')
        .selectAll()
        .where('tenant', '=', tenant)
        .where('deleted_at', 'is', null)
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      const runs = await db
        .selectFrom('digest_runs')
        .innerJoin('digests', 'digests.id', 'digest_id')
        .distinctOn('digest_id')
        .select(['digest_id', 'due', 'state'])
        .where('tenant', '=', tenant)
        .where('state', 'not in', ['due', 'cancelled'])
        .orderBy('digest_id')
        .orderBy('due', 'desc')
        .execute();
      const last = new Map(runs.map((run) => [run.digest_id, run]));
      return rows.map((row) => ({ digest: readDigest(row), last: last.get(row.id) }));
    },
    /** Deleted ones too, as long as their deletion can be undone. */
    async find(tenant: string, id: string): Promise<Digest | undefined> {
      const digest = await findDigest(db, id);
      return digest?.tenant === tenant ? digest : undefined;
    },
    /** The earlier runs and baseline for a run at this moment. */
    loadPast: ({ id }: Digest): Promise<DigestPast> => loadPast(db, id, now()),
    /** The person becomes its owner: it shows what their key can read. A digest that the bot paused runs again. */
    change: (digest: Digest, order: DigestOrder, by: Person) =>
      change(
        digest,
        by,
        'digest-changed',
        (planned) => {
          // A run that was due a moment ago and has not begun still runs.
          const since = Math.min(...planned.map((due) => due.getTime() - 1), now().getTime());
          const isPausedByHand = digest.paused?.reason === 'by-hand';
          return {
            ...orderColumns(by, order),
            ...(isPausedByHand ? {} : running(order.schedule, new Date(since))),
          };
        },
        describe(order),
      ),
    pause: (digest: Digest, by: Person) =>
      change(digest, by, 'digest-paused', () => ({
        paused: 'by-hand',
        paused_by: by.userId,
        paused_at: now(),
        pause_notice: null,
        next_due: null,
      })),
    resume: (digest: Digest, by: Person) =>
      change(digest, by, 'digest-changed', () => running(digest.schedule), { resumed: 'yes' }),
    takeOver(digest: Digest, by: Person) {
      const changes = { ...running(digest.schedule), ...ownerColumns(by) };
      return change(digest, by, 'digest-taken-over', () => changes, { from: digest.owner.userId });
    },
    delete: (digest: Digest, by: Person) =>
      change(digest, by, 'digest-deleted', () => ({ deleted_at: now(), next_due: null })),
    /** Undoes a deletion, as long as it can be. */
    async restore(digest: Digest, by: Person): Promise<Digest | undefined> {
      const { deletedAt, paused, schedule } = digest;
      if (!deletedAt || now().getTime() - deletedAt.getTime() > undoMinutes * minuteMs) return undefined;
      const changes = { ...(paused ? {} : running(schedule)), deleted_at: null };
      return change(digest, by, 'digest-changed', () => changes, { restored: 'yes' });
    },
    /** Runs at once, whatever the schedule says. False where a run is on its way already. */
    runNow({ id }: Digest, by: Person): Promise<boolean> {
      const key = { digest_id: id, due: now() };
      return begin(key, (trx) => storeManualRun(trx, key, by.userId));
    },
    /** Runs once more: a person looked, and the post is not there. False where the run's fate is not unknown any more. */
    postAgain({ id }: Digest, due: Date): Promise<boolean> {
      const key = { digest_id: id, due };
      return begin(key, async (trx) => {
        const reopened = await trx
          .updateTable('digest_runs')
          .set({ state: 'due', run_at: now() })
          .where((row) => row.and({ ...key, state: 'unknown' }))
          .executeTakeFirst();
        return reopened.numUpdatedRows === 1n;
      });
    },
  };
}

function describe({ channel, subject }: DigestOrder) {
  return { channel, kinds: subject.kinds.join(' ') };
}

/** Short, since people type it; without vowels, so that it never is a word, and without look-alikes. */
function newId(): string {
  return Array.from({ length: 5 }, () => letters.charAt(randomInt(letters.length))).join('');
}
const letters = '23456789bcdfghjkmnpqrstvwxz';
