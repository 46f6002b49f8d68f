import { randomInt } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Audit, AuditEvent } from '../auth/audit/audit.ts';
import type { Person } from '../auth/identity.ts';
import type { OffboardingHook } from '../auth/offboarding.ts';
import { minuteMs } from '../lib/time.ts';
import type { Enqueue } from '../store/queue/queue.ts';
import type { Schema } from '../store/schema.ts';
import { digestsNowJob } from './jobs.ts';
import type { Digest, DigestBaseline, DigestOrder, PastRun } from './model.ts';
import { notifyPausesJob } from './pause-notifications.ts';
import { readBaseline, readPastRun } from './prepare.ts';
import { findBaseline } from './queries/baselines.ts';
import {
  changeDigest,
  type DigestRow,
  deleteDigest,
  findDigest,
  insertDigest,
  listDigests,
  pauseDigestsOf,
} from './queries/digests.ts';
import { findLastRuns, findPastRuns, reopenRun } from './queries/runs.ts';
import { deletePlannedRuns, storeManualRun } from './queries/schedule-runs.ts';
import { ownerColumns, readDigest, writeDigestBody } from './row.ts';
import { findNextRun } from './schedule.ts';

/** How long a deletion can be undone. */
export const undoMinutes = 15;

/** A digest in a list, with how its last run ended. */
export interface ListedDigest {
  readonly digest: Digest;
  readonly last: { readonly due: Date; readonly state: string } | undefined;
}

/**
 * The digests of everybody, as commands work with them. Nothing in here decides who may; every change is audited in its
 * transaction, and undefined where somebody else changed the same digest meanwhile.
 */
export interface DigestService {
  /** A new one, which does not run before `begin`: first its channel is told. */
  order(owner: Person, order: DigestOrder): Promise<Digest>;
  begin(digest: Digest, by: Person): Promise<Digest | undefined>;
  /** Takes back an order that never began. */
  drop(digest: Digest): Promise<void>;
  list(tenant: string): Promise<ListedDigest[]>;
  find(tenant: string, id: string): Promise<Digest | undefined>;
  /** What it found before, newest first, and what it remembers of what it last said: what a run compares with. */
  past(
    digest: Digest,
  ): Promise<{ readonly history: PastRun[]; readonly baseline: DigestBaseline | undefined }>;
  /** Whoever changes what it shows becomes its owner; one that the bot paused runs again. */
  change(digest: Digest, order: DigestOrder, by: Person): Promise<Digest | undefined>;
  pause(digest: Digest, by: Person): Promise<Digest | undefined>;
  resume(digest: Digest, by: Person): Promise<Digest | undefined>;
  /** It runs with this person's key from now on. */
  takeOver(digest: Digest, by: Person): Promise<Digest | undefined>;
  /** Destroyed some minutes later. */
  remove(digest: Digest, by: Person): Promise<Digest | undefined>;
  /** Undoes that, as long as it can be. */
  restore(digest: Digest, by: Person): Promise<Digest | undefined>;
  /** A run at once, whatever the schedule says. False where one is on its way already. */
  runNow(digest: Digest, by: Person): Promise<boolean>;
  /** Posts a run again whose fate is unknown: a person looked. False where it is no longer so. */
  postAgain(digest: Digest, due: Date): Promise<boolean>;
  /** Stops what runs for somebody whose key has ended. */
  readonly pauses: OffboardingHook;
}

export function createDigestService(options: {
  readonly db: Kysely<Schema>;
  readonly audit: Audit;
  readonly enqueue: Enqueue;
  readonly now: () => Date;
}): DigestService {
  const { db, audit, enqueue, now } = options;

  /** One change of one digest with its record. What was planned is planned anew. */
  const change = async (
    digest: Digest,
    by: Person,
    event: AuditEvent,
    changes: (planned: readonly Date[]) => Parameters<typeof changeDigest>[2],
    detail: Readonly<Record<string, string>> = {},
  ): Promise<Digest | undefined> => {
    const done = db.transaction().execute(async (trx) => {
      const planned = await deletePlannedRuns(trx, [digest.id]);
      const row = await changeDigest(trx, digest, changes(planned));
      // Thrown, so that what was planned stays planned.
      if (!row) throw new Overtaken();
      const { tenant, id: subject } = digest;
      await audit.record({ tenant, actor: by.userId, event, subject, detail }, { in: trx });
      return readDigest(row);
    });
    return done.catch((error: unknown) => {
      if (error instanceof Overtaken) return undefined;
      throw error;
    });
  };
  const running = (schedule: Digest['schedule'], after = now()): { next_due: Date } & typeof notPaused => ({
    ...notPaused,
    next_due: findNextRun(schedule, after),
  });

  return {
    async order(owner, order) {
      const columns = {
        ...ownerColumns(owner),
        channel: order.channel,
        body: writeDigestBody(order),
        revision: 1,
        paused: 'new',
        failures: 0,
        made_at: now(),
      };
      for (;;) {
        const row = await insertDigest(db, { id: newId(), ...columns });
        if (row) return readDigest(row);
      }
    },
    begin: (digest, by) =>
      change(digest, by, 'digest-created', () => running(digest.schedule), {
        channel: digest.channel,
        kinds: digest.subject.kinds.join(' '),
      }),
    drop: (digest) => deleteDigest(db, digest.id),
    async list(tenant) {
      const rows = await listDigests(db, tenant);
      const last = new Map(
        (
          await findLastRuns(
            db,
            rows.map(({ id }) => id),
          )
        ).map((run) => [run.digest_id, run]),
      );
      return rows.map((row) => ({ digest: readDigest(row), last: last.get(row.id) }));
    },
    async find(tenant, id) {
      const row = await findDigest(db, tenant, id);
      return row && readDigest(row);
    },
    async past({ id }) {
      const stored = await findBaseline(db, id);
      const runs = await findPastRuns(db, id, now(), 60);
      return { history: runs.flatMap((run) => readPastRun(run) ?? []), baseline: readBaseline(stored?.body) };
    },
    change: (digest, order, by) => {
      // Whoever says what it shows, and where, shows what their own key can read.
      const { owner, enterprise_id, team_id } = ownerColumns(by);
      return change(
        digest,
        by,
        'digest-changed',
        (planned) => {
          // A run that was due a moment ago and has not begun is still to be.
          const since = Math.min(...planned.map((due) => due.getTime() - 1), now().getTime());
          const runs = digest.paused?.reason === 'by-hand' ? {} : running(order.schedule, new Date(since));
          return {
            channel: order.channel,
            body: writeDigestBody(order),
            owner,
            enterprise_id,
            team_id,
            ...runs,
          };
        },
        { channel: order.channel, kinds: order.subject.kinds.join(' ') },
      );
    },
    pause: (digest, by) =>
      change(digest, by, 'digest-paused', () => ({
        paused: 'by-hand',
        paused_by: by.userId,
        paused_at: now(),
        paused_told: null,
        next_due: null,
      })),
    resume: (digest, by) =>
      change(digest, by, 'digest-changed', () => running(digest.schedule), { resumed: 'yes' }),
    takeOver: (digest, by) => {
      const { owner, enterprise_id, team_id } = ownerColumns(by);
      return change(
        digest,
        by,
        'digest-taken-over',
        () => ({ ...running(digest.schedule), owner, enterprise_id, team_id }),
        { from: digest.owner.userId },
      );
    },
    remove: (digest, by) =>
      change(digest, by, 'digest-deleted', () => ({ deleted_at: now(), next_due: null })),
    async restore(digest, by) {
      const { deletedAt } = digest;
      if (!deletedAt || now().getTime() - deletedAt.getTime() > undoMinutes * minuteMs) return undefined;
      const runs = digest.paused ? {} : running(digest.schedule);
      return change(digest, by, 'digest-changed', () => ({ ...runs, deleted_at: null }), { restored: 'yes' });
    },
    async runNow(digest, by) {
      return db.transaction().execute(async (trx) => {
        if (!(await storeManualRun(trx, { digest_id: digest.id, due: now() }, by.userId))) return false;
        await enqueue(digestsNowJob, {}, { in: trx });
        return true;
      });
    },
    async postAgain(digest, due) {
      return db.transaction().execute(async (trx) => {
        if (!(await reopenRun(trx, { digest_id: digest.id, due }, 'unknown', now()))) return false;
        await enqueue(digestsNowJob, {}, { in: trx });
        return true;
      });
    },
    async pauses({ person, tenant }) {
      await db.transaction().execute(async (trx) => {
        const reason = person ? 'owner-gone' : 'uninstalled';
        const whose = { tenant, owner: person?.userId };
        const stopped: DigestRow[] = await pauseDigestsOf(trx, whose, { reason, at: now() });
        await deletePlannedRuns(
          trx,
          stopped.map(({ id }) => id),
        );
        for (const { id: subject } of stopped) {
          await audit.record(
            { tenant, actor: 'system', event: 'digest-paused', subject, detail: { reason } },
            { in: trx },
          );
        }
        // Without the app in the workspace nobody can be told before it is back (`digest-return.ts`).
        if (person && stopped.length > 0) await enqueue(notifyPausesJob, {}, { in: trx });
      });
    },
  };
}

/** Somebody else changed the same digest first. */
class Overtaken extends Error {}

const notPaused = { paused: null, paused_by: null, paused_at: null, paused_told: null } as const;

/** Short, since people type it: without vowels, so that it never is a word, and without what looks alike. */
function newId(): string {
  return Array.from({ length: 5 }, () => letters.charAt(randomInt(letters.length))).join('');
}
const letters = '23456789bcdfghjkmnpqrstvwxz';
