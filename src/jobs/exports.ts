import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import { type Person, tenantOf } from '../auth/identity.ts';
import { UserError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type ExportRequest, type ExportSummary, isUnderWay } from '../reports/event-export.ts';
import { announceExport, askToEnd, endIdleExport, forgetLeases } from '../store/export-moves.ts';
import { addExport, dropExport, exportsOf, findExport, unfinishedExports } from '../store/exports.ts';
import type { Schema } from '../store/schema.ts';
import { exportCancelled, exportNotBegun } from '../views/event-log-ends.ts';
import { exportProgress } from '../views/event-logs.ts';
import { whyNotPosted } from './export-failures.ts';
import { messageOf, placeOf, summaryOf, writeRequest } from './export-rows.ts';
import { type ExportData, exportJob } from './export-run.ts';
import { type Ports, type Posted, SlackFailure } from './ports.ts';

/** Exports of event logs, from the form to the file. */
export interface Exports {
  /**
   * Posts the message that will tell how far it is, which shows whether the bot may write there, and lets the export
   * run. Whether the person may is decided before.
   *
   * @throws UserError where the message cannot be posted, or they have too many under way.
   */
  ask(person: Person, wanted: ExportRequest, channel: string | undefined): Promise<{ readonly id: string }>;
  /** Of the same organisation; undefined where there is none, or what was asked for is forgotten. */
  find(person: Person, id: string): Promise<ExportSummary | undefined>;
  /** Their newest exports, newest first. */
  list(person: Person, most: number): Promise<readonly ExportSummary[]>;
  /** `ending`: the process that works on it has been told. `late`: Slack is being told to show the files. */
  cancel(person: Person, id: string): Promise<'cancelled' | 'ending' | 'late' | 'over'>;
  /** Stops what runs for somebody whose key is gone, or for everybody of a tenant. */
  endFor(ended: { readonly person: Person | undefined; readonly tenant: string }): Promise<void>;
  /** Takes up what another process has left behind. `alone`: there is no other process. */
  resume(options: { readonly alone: boolean }): Promise<void>;
}

const mostUnderWay = 3;
// An export whose message is not there by then never got one.
const announcedWithinMs = 60_000;

export function createExports(options: {
  readonly db: Kysely<Schema>;
  readonly ports: Pick<Ports, 'slack' | 'enqueue'>;
  readonly log: Log;
  readonly now: () => Date;
}): Exports {
  const { db, ports, log, now } = options;
  const never = new AbortController().signal;

  const stop = async (id: string, by: string): Promise<'cancelled' | 'ending' | 'late' | 'over'> => {
    if (await endIdleExport(db, id, 'cancelled', { by, now: now() })) {
      const row = await findExport(db, id);
      const at = row && messageOf(row);
      if (row && at) {
        await ports
          .slack(placeOf(row), never)
          .update(at, exportCancelled(summaryOf(row), by))
          .catch((error: unknown) => log.warn({ error, id }, 'a stopped export could not be told'));
      }
      return 'cancelled';
    }
    if (await askToEnd(db, id, by)) return 'ending';
    const row = await findExport(db, id);
    if (row?.state === 'running') return 'ending';
    return row?.state === 'sharing' ? 'late' : 'over';
  };

  return {
    async ask(person, wanted, channel) {
      const tenant = tenantOf(person);
      const open = await unfinishedExports(db, { tenant, userId: person.userId });
      if (open.length >= mostUnderWay) {
        throw new UserError(
          `You have ${mostUnderWay} exports under way, and more at once are not taken.`,
          'Wait for one, or cancel one: `/cdn export list`.',
        );
      }
      const id = randomBytes(9).toString('base64url');
      await addExport(db, {
        id,
        tenant,
        enterprise_id: person.enterpriseId ?? null,
        team_id: person.teamId,
        user_id: person.userId,
        channel: channel ?? null,
        request: writeRequest(wanted),
        asked_at: now(),
      });
      const row = await findExport(db, id);
      if (!row) throw new Error('an export was not stored');
      const slack = ports.slack(placeOf(row), never);
      let at: Posted | undefined;
      try {
        const first = { phase: 'starting', rows: 0, bytes: 0, elapsedMs: 0, attempt: 1 } as const;
        at = await slack.post(channel ?? person.userId, exportProgress(summaryOf(row), first));
        const there = at;
        await db.transaction().execute(async (trx) => {
          await announceExport(trx, id, there);
          await ports.enqueue(exportJob, { id } satisfies ExportData, { in: trx });
        });
      } catch (error) {
        // What Slack refused was never there: nothing is kept of what was typed.
        if (error instanceof SlackFailure && error.outcome === 'refused') await dropExport(db, id);
        else await endIdleExport(db, id, 'failed', { now: now() });
        if (at) await slack.update(at, { text: 'This export could not be started.' }).catch(() => undefined);
        throw at ? error : whyNotPosted(error, channel);
      }
      return { id };
    },
    async find(person, id) {
      const row = await findExport(db, id);
      return row && row.tenant === tenantOf(person) && row.request !== null ? summaryOf(row) : undefined;
    },
    async list(person, most) {
      const rows = await exportsOf(db, { tenant: tenantOf(person), userId: person.userId }, most);
      return rows.map(summaryOf);
    },
    async cancel(person, id) {
      const row = await findExport(db, id);
      if (!row || row.tenant !== tenantOf(person)) return 'over';
      return stop(id, person.userId);
    },
    async endFor({ person, tenant }) {
      for (const row of await unfinishedExports(db, { tenant, userId: person?.userId })) {
        if (isUnderWay(summaryOf(row).state)) await stop(row.id, 'system');
      }
    },
    async resume({ alone }) {
      if (alone) await forgetLeases(db, now());
      for (const row of await unfinishedExports(db)) {
        if (row.state === 'asked') {
          const isLost = alone || row.asked_at.getTime() < now().getTime() - announcedWithinMs;
          if (isLost && (await endIdleExport(db, row.id, 'failed', { now: now() }))) {
            // Where its message is, if it is there, nobody knows.
            await ports
              .slack(placeOf(row), never)
              .post(row.user_id, exportNotBegun(summaryOf(row)))
              .catch((error: unknown) => log.warn({ error, id: row.id }, 'a lost export could not be told'));
          }
          continue;
        }
        // A second job for the same export finds it taken, and leaves it.
        if (row.lease_until === null || row.lease_until <= now())
          await ports.enqueue(exportJob, { id: row.id });
      }
    },
  };
}
