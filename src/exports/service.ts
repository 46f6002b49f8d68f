import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import { type Person, tenantId } from '../auth/identity.ts';
import { UserError } from '../errors.ts';
import { type Posted, SlackFailure, type SlackPort } from '../outbox/slack-port.ts';
import type { Schema } from '../store/schema.ts';
import type { Log } from '../telemetry/log.ts';
import { beginExport, beginExportJob, endAsNotBegun, postFirstMessage } from './begin.ts';
import { describePostFailure } from './failures.ts';
import { finishExport } from './finish.ts';
import { findExportMessage, settleMs } from './message.ts';
import { type ExportRequest, type ExportSummary, isUnderWay } from './model.ts';
import { notifyOutcomeJob, showOutcome } from './notify-outcome.ts';
import { readOutcome } from './outcome.ts';
import type { ExportPorts } from './ports.ts';
import {
  addExport,
  dropExport,
  type ExportRow,
  findExport,
  findExportsOf,
  findUnfinishedExports,
  lockExportsOf,
} from './queries/exports.ts';
import { findUnnotifiedExports, markExportNotified, storeExportMessage } from './queries/outcomes.ts';
import { clearExportLeases, endUnclaimedExport, requestExportEnd } from './queries/transitions.ts';
import { recoverOrphanedExports } from './recover-orphans.ts';
import { firstMessageOf, installationOf, toExportSummary, writeRequest } from './rows.ts';
import { runExportJob } from './run.ts';

/** Exports of event logs, from the form to the file. */
export interface ExportService {
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
  /**
   * Somebody pressed a button in a message of it: `at`, where everybody sees that. Where it has ended, the end takes the
   * place of the message, which did not hear of it; where its message was not known, it is from now on.
   */
  look(person: Person, id: string, at: Posted | undefined): Promise<ExportSummary | undefined>;
  /** Stops what runs for somebody whose key is gone, or for everybody of a tenant. */
  endFor(ended: { readonly person: Person | undefined; readonly tenant: string }): Promise<void>;
  /** Takes up what was left behind when a process starts. `alone`: there is no other process. */
  resume(options: { readonly alone: boolean }): Promise<void>;
  /** Takes up what a process that died has left behind; to be called every few seconds where there are several. */
  rescue(): Promise<void>;
}

const mostUnderWay = 3;

export function createExportService(options: {
  readonly db: Kysely<Schema>;
  readonly ports: Pick<ExportPorts, 'slack' | 'enqueue' | 'audit'>;
  readonly log: Log;
  readonly now: () => Date;
}): ExportService {
  const { db, ports, log, now } = options;
  const context = { db, ports, log, now };
  const never = new AbortController().signal;

  const later = (error: unknown): void => log.error({ error }, 'an export is late to begin or to tell');

  /** The first message got no answer. Undefined where `exportBegin` is to look for it. */
  const adopted = async (
    row: ExportRow,
    failure: SlackFailure,
    slack: SlackPort,
  ): Promise<Posted | undefined> => {
    const found = await findExportMessage(slack, row).catch((error: unknown) => {
      log.warn({ error, id: row.id }, 'the message of an export could not be looked for');
      return 'absent' as const;
    });
    if (found === 'absent') return undefined;
    if (found !== 'nobody-knows') return found;
    await endAsNotBegun(context, row.id, now());
    throw failure;
  };

  const showEndIn = async (row: ExportRow, at: Posted): Promise<void> => {
    await storeExportMessage(db, row.id, at);
    const ending = readOutcome(row);
    if (!ending) return;
    const shown = await showOutcome(ports.slack(installationOf(row), never), at, row, ending).catch(later);
    if (shown) await markExportNotified(db, row.id, now());
  };

  const stop = async (id: string, by: string): Promise<'cancelled' | 'ending' | 'late' | 'over'> => {
    const isIdle = await finishExport(context, { id, ending: { kind: 'cancelled', by } }, (trx, end) =>
      endUnclaimedExport(trx, id, 'cancelled', { by, end }),
    );
    if (isIdle) {
      // Somebody looks at the message at this moment, and the process that runs jobs may be the one that died.
      const row = await findExport(db, id);
      const at = row && firstMessageOf(row);
      if (at) await showEndIn(row, at);
      return 'cancelled';
    }
    if (await requestExportEnd(db, id, by)) return 'ending';
    const row = await findExport(db, id);
    if (row?.state === 'running') return 'ending';
    return row?.state === 'sharing' ? 'late' : 'over';
  };

  return {
    async ask(person, wanted, channel) {
      const tenant = tenantId(person);
      const row = await db.transaction().execute(async (trx) => {
        const { userId } = person;
        await lockExportsOf(trx, { tenant, userId });
        const request = writeRequest(wanted);
        refuseMore(await findUnfinishedExports(trx, { tenant, userId }), request, channel);
        const id = randomBytes(9).toString('base64url');
        // Should this process die, or get no answer.
        await ports.enqueue(beginExportJob, { id }, { in: trx, at: new Date(now().getTime() + settleMs) });
        return addExport(trx, {
          id,
          tenant,
          enterprise_id: person.enterpriseId ?? null,
          team_id: person.teamId,
          user_id: userId,
          channel: channel ?? null,
          request,
          asked_at: now(),
        });
      });
      const { id } = row;
      const slack = ports.slack(installationOf(row), never);
      let at: Posted | undefined;
      try {
        at = await postFirstMessage(slack, row).catch((error: unknown) => {
          if (error instanceof SlackFailure && error.outcome === 'unknown') return adopted(row, error, slack);
          throw error;
        });
      } catch (error) {
        // What Slack refused was never there: nothing is kept of what was typed.
        await dropExport(db, id);
        throw describePostFailure(error, channel);
      }
      // Where the database does not answer, `exportBegin` finds the message later.
      const begun = at && (await beginExport(context, id, at).catch(later));
      if (begun === 'ended')
        throw new UserError('This export was stopped before it began.', 'Nothing was asked of the CDN.');
      return { id };
    },
    async find(person, id) {
      const row = await findExport(db, id);
      return row && row.tenant === tenantId(person) && row.request !== null
        ? toExportSummary(row)
        : undefined;
    },
    async list(person, most) {
      const rows = await findExportsOf(db, { tenant: tenantId(person), userId: person.userId }, most);
      return rows.map(toExportSummary);
    },
    async look(person, id, at) {
      const row = await findExport(db, id);
      if (!row || row.tenant !== tenantId(person) || row.request === null) return undefined;
      if (at) await showEndIn(row, at);
      return toExportSummary(row);
    },
    async cancel(person, id) {
      const row = await findExport(db, id);
      if (!row || row.tenant !== tenantId(person)) return 'over';
      return stop(id, person.userId);
    },
    async endFor({ person, tenant }) {
      for (const row of await findUnfinishedExports(db, { tenant, userId: person?.userId })) {
        if (isUnderWay(toExportSummary(row).state)) await stop(row.id, 'system');
      }
    },
    async resume({ alone }) {
      if (alone) await clearExportLeases(db, now());
      for (const row of await findUnfinishedExports(db)) {
        // What waits has its job, unless the queue has given that up; a second one finds it taken, and leaves it.
        if (row.state === 'waiting' && (row.lease_until === null || row.lease_until <= now()))
          await ports.enqueue(runExportJob, { id: row.id });
      }
      // Their jobs are there as well, but wait for their turn, or for a process that died to be given up.
      for (const { id } of await findUnnotifiedExports(db)) await ports.enqueue(notifyOutcomeJob, { id });
      await recoverOrphanedExports({ db, ports, log, now });
    },
    rescue: () => recoverOrphanedExports({ db, ports, log, now }),
  };
}

/** Twice the same is a click too many; more than a few are more than a disk has room for. */
function refuseMore(open: readonly ExportRow[], request: string, channel: string | undefined): void {
  if (open.some((one) => one.request === request && (one.channel ?? undefined) === channel)) {
    throw new UserError(
      'The same export is under way already.',
      'Its message tells how far it is; `/cdn export list` shows it.',
    );
  }
  if (open.length < mostUnderWay) return;
  throw new UserError(
    `You have ${mostUnderWay} exports under way, and more at once are not taken.`,
    'Wait for one, or cancel one: `/cdn export list`.',
  );
}
