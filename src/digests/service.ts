import { randomInt } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Audit, AuditEvent } from '../auth/audit/audit.ts';
import type { Installation, People, Person } from '../auth/identity.ts';
import type { OffboardingHook } from '../auth/offboarding.ts';
import { minuteMs } from '../lib/time.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Enqueue } from '../store/queue/queue.ts';
import type { Schema } from '../store/schema.ts';
import { cancelPosts } from './messages.ts';
import type { Digest, DigestBaseline, DigestOrder, PastRun } from './model.ts';
import { pauseDigests } from './pause.ts';
import { readBaseline, readPastRun } from './prepare.ts';
import { findBaseline } from './queries/baselines.ts';
import {
  changeDigest,
  deleteDigest,
  findDigest,
  insertDigest,
  listDigests,
  ownerColumns,
  writeDigestBody,
} from './queries/digests.ts';
import { deletePlannedRuns, findLastRuns, findPastRuns, reopenRun, storeManualRun } from './queries/runs.ts';
import { findNextRun } from './schedule.ts';
import { enqueueNextRun, enqueueRun } from './schedule-runs.ts';

/** How long a deletion can be undone. */
export const undoMinutes = 15;

/** A digest in a list, with how its last run ended. */
export interface ListedDigest {
  readonly digest: Digest;
  readonly last: { readonly due: Date; readonly state: string } | undefined;
}

/**
 * Digests as commands work with them. Permissions are the commands' matter; every change is audited in its transaction,
 * and returns undefined where another change of the same digest came first.
 */
export interface DigestService {
  /** Stores a new digest. It does not run before `begin`: first its channel is told. */
  create(owner: Person, order: DigestOrder): Promise<Digest>;
  begin(digest: Digest, by: Person): Promise<Digest | undefined>;
  /** Takes back a digest that never began. */
  discard(digest: Digest): Promise<void>;
  list(tenant: string): Promise<ListedDigest[]>;
  /** Deleted ones too, as long as their deletion can be undone. */
  find(tenant: string, id: string): Promise<Digest | undefined>;
  /** What a run compares with: earlier runs, newest first, and the baseline. */
  loadPast(
    digest: Digest,
  ): Promise<{ readonly history: PastRun[]; readonly baseline: DigestBaseline | undefined }>;
  /** The person becomes its owner: it shows what their key can read. A digest that the bot paused runs again. */
  change(digest: Digest, order: DigestOrder, by: Person): Promise<Digest | undefined>;
  pause(digest: Digest, by: Person): Promise<Digest | undefined>;
  resume(digest: Digest, by: Person): Promise<Digest | undefined>;
  takeOver(digest: Digest, by: Person): Promise<Digest | undefined>;
  delete(digest: Digest, by: Person): Promise<Digest | undefined>;
  /** Undoes a deletion, as long as it can be. */
  restore(digest: Digest, by: Person): Promise<Digest | undefined>;
  /** Runs at once, whatever the schedule says. False where a run is on its way already. */
  runNow(digest: Digest, by: Person): Promise<boolean>;
  /** Runs once more: a person looked, and the post is not there. False where the run is not of unknown fate any more. */
  postAgain(digest: Digest, due: Date): Promise<boolean>;
  /** Pauses the digests of a person or a tenant whose keys are gone. */
  readonly pauseFor: OffboardingHook;
}

export function createDigestService(options: {
  readonly db: Kysely<Schema>;
  readonly audit: Audit;
  readonly outbox: Outbox;
  readonly people: (installation: Installation) => People;
  readonly enqueue: Enqueue;
  readonly now: () => Date;
}): DigestService {
  const { db, audit, enqueue, now } = options;

  /** One change of one digest with its record; its next run moves with it. */
  const change = async (
    digest: Digest,
    by: Person,
    event: AuditEvent,
    changesFor: (planned: readonly Date[]) => Parameters<typeof changeDigest>[2],
    detail: Readonly<Record<string, string>> = {},
  ): Promise<Digest | undefined> => {
    const done = db.transaction().execute(async (trx) => {
      const planned = await deletePlannedRuns(trx, [digest.id]);
      const changed = await changeDigest(trx, digest, changesFor(planned));
      // Thrown, so that planned runs stay.
      if (!changed) throw new ChangedMeanwhile();
      const { tenant, id: subject } = digest;
      await audit.record({ tenant, actor: by.userId, event, subject, detail }, { in: trx });
      await enqueueNextRun(enqueue, changed, trx);
      if (changed.deletedAt) await cancelPosts(trx, digest.id, options.outbox);
      return changed;
    });
    return done.catch((error: unknown) => {
      if (error instanceof ChangedMeanwhile) return undefined;
      throw error;
    });
  };
  const running = (schedule: Digest['schedule'], after = now()): { next_due: Date } & typeof notPaused => ({
    ...notPaused,
    next_due: findNextRun(schedule, after),
  });
  /** Stores or reopens a run, with its job. */
  const begin = async (
    { id }: Digest,
    due: Date,
    store: (
      trx: Parameters<typeof storeManualRun>[0],
      key: { digest_id: string; due: Date },
    ) => Promise<boolean>,
  ): Promise<boolean> =>
    db.transaction().execute(async (trx) => {
      const key = { digest_id: id, due };
      if (!(await store(trx, key))) return false;
      await enqueueRun(enqueue, key, { in: trx });
      return true;
    });

  return {
    async create(owner, order) {
      const columns = {
        ...ownerColumns(owner),
        channel: order.channel,
        body: writeDigestBody(order),
        revision: 1,
        paused: 'new',
        failures: 0,
        created_at: now(),
      };
      for (;;) {
        const digest = await insertDigest(db, { id: newId(), ...columns });
        if (digest) return digest;
      }
    },
    begin: (digest, by) =>
      change(digest, by, 'digest-created', () => running(digest.schedule), describe(digest)),
    discard: (digest) => deleteDigest(db, digest.id),
    async list(tenant) {
      const [digests, runs] = [await listDigests(db, tenant), await findLastRuns(db, tenant)];
      const last = new Map(runs.map((run) => [run.digest_id, run]));
      return digests.map((digest) => ({ digest, last: last.get(digest.id) }));
    },
    async find(tenant, id) {
      const digest = await findDigest(db, id);
      return digest?.tenant === tenant ? digest : undefined;
    },
    async loadPast({ id }) {
      const stored = await findBaseline(db, id);
      const runs = await findPastRuns(db, id, now(), 60);
      return { history: runs.flatMap((run) => readPastRun(run) ?? []), baseline: readBaseline(stored?.body) };
    },
    change: (digest, order, by) =>
      change(
        digest,
        by,
        'digest-changed',
        (planned) => {
          // A run that was due a moment ago and has not begun still runs.
          const since = Math.min(...planned.map((due) => due.getTime() - 1), now().getTime());
          return {
            ...ownerColumns(by),
            channel: order.channel,
            body: writeDigestBody(order),
            ...(digest.paused?.reason === 'by-hand' ? {} : running(order.schedule, new Date(since))),
          };
        },
        describe(order),
      ),
    pause: (digest, by) =>
      change(digest, by, 'digest-paused', () => ({
        paused: 'by-hand',
        paused_by: by.userId,
        paused_at: now(),
        pause_notice: null,
        next_due: null,
      })),
    resume: (digest, by) =>
      change(digest, by, 'digest-changed', () => running(digest.schedule), { resumed: 'yes' }),
    takeOver: (digest, by) =>
      change(digest, by, 'digest-taken-over', () => ({ ...running(digest.schedule), ...ownerColumns(by) }), {
        from: digest.owner.userId,
      }),
    delete: (digest, by) =>
      change(digest, by, 'digest-deleted', () => ({ deleted_at: now(), next_due: null })),
    async restore(digest, by) {
      const { deletedAt } = digest;
      if (!deletedAt || now().getTime() - deletedAt.getTime() > undoMinutes * minuteMs) return undefined;
      const runs = digest.paused ? {} : running(digest.schedule);
      return change(digest, by, 'digest-changed', () => ({ ...runs, deleted_at: null }), { restored: 'yes' });
    },
    runNow: (digest, by) => begin(digest, now(), (trx, key) => storeManualRun(trx, key, by.userId)),
    postAgain: (digest, due) => begin(digest, due, (trx, key) => reopenRun(trx, key, now())),
    async pauseFor({ person, tenant }) {
      const reason = person ? 'owner-gone' : 'uninstalled';
      await db.transaction().execute(async (trx) => {
        const which = { tenant, owner: person?.userId };
        const paused = await pauseDigests(trx, which, { reason, at: now() }, options);
        await deletePlannedRuns(
          trx,
          paused.map(({ id }) => id),
        );
      });
    },
  };
}

/** Another change of the same digest came first. */
class ChangedMeanwhile extends Error {}

const notPaused = { paused: null, paused_by: null, paused_at: null, pause_notice: null } as const;

/** For the record. */
function describe({ channel, subject }: DigestOrder): { channel: string; kinds: string } {
  return { channel, kinds: subject.kinds.join(' ') };
}

/** Short, since people type it; without vowels, so that it never is a word, and without look-alikes. */
function newId(): string {
  return Array.from({ length: 5 }, () => letters.charAt(randomInt(letters.length))).join('');
}
const letters = '23456789bcdfghjkmnpqrstvwxz';
