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
import { type ExportRequest, type ExportSummary, isUnderWay } from './model.ts';
import { findExportMessage, settleMs, showOutcome } from './notify-outcome.ts';
import { readOutcome } from './outcome.ts';
import type { ExportPorts } from './ports.ts';
import {
  addExport,
  dropExport,
  type ExportRow,
  findExport,
  findExportsOf,
  findUnfinishedExports,
  firstMessageOf,
  installationOf,
  lockExportsOf,
  toExportSummary,
  writeRequest,
} from './queries/exports.ts';
import { cancelExport, markExportNotified, storeExportMessage } from './queries/transitions.ts';

/** Exports of event logs, from the form to the file. */
export interface ExportService {
  /**
   * Posts the export's message, which shows whether the bot may post there, and enqueues the export. The caller has
   * checked the person's permission.
   *
   * @throws UserError if the message cannot be posted, or the person has too many exports under way.
   */
  ask(person: Person, wanted: ExportRequest, channel: string | undefined): Promise<{ readonly id: string }>;
  /** Within the person's tenant. Undefined if there is none, or its request was erased. */
  find(person: Person, id: string): Promise<ExportSummary | undefined>;
  /** The person's exports, newest first. */
  list(person: Person, most: number): Promise<readonly ExportSummary[]>;
  /** Ends it at once; a process that works on it notices within a second. `late`: Slack is asked to show the files. */
  cancel(person: Person, id: string): Promise<'cancelled' | 'late' | 'over'>;
  /**
   * Finds an export whose button was pressed in the message `at`. An outdated message is replaced by the outcome, and
   * stored as the export's message if that was unknown.
   */
  look(person: Person, id: string, at: Posted | undefined): Promise<ExportSummary | undefined>;
  /** Cancels the exports of a person whose key is gone, or of a whole tenant. */
  endFor(ended: { readonly person: Person | undefined; readonly tenant: string }): Promise<void>;
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

  /** Looks for a first message that Slack did not answer. Undefined if `beginExportJob` has to look again. */
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

  const stop = async (id: string, by: string): Promise<'cancelled' | 'late' | 'over'> => {
    const isCancelled = await finishExport(context, { id, ending: { kind: 'cancelled', by } }, (trx, end) =>
      cancelExport(trx, id, end),
    );
    const row = await findExport(db, id);
    if (!isCancelled) return row?.state === 'sharing' ? 'late' : 'over';
    // Shown at once: the person looks at the message, and maybe no worker process runs.
    const at = row && firstMessageOf(row);
    if (at) await showEndIn(row, at);
    return 'cancelled';
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
        // In case this process dies, or Slack does not answer.
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
        // Slack refused the message: nothing of the request is kept.
        await dropExport(db, id);
        throw describePostFailure(error, channel);
      }
      // If the database does not answer, `beginExportJob` finds the message later.
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
  };
}

/** Refuses a duplicate (a double click), and more exports than a disk has room for. */
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
