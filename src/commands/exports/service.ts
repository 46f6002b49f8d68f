import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Person, tenantId } from '../../auth/identity.ts';
import { UserError } from '../../errors.ts';
import type { Posted } from '../../outbox/slack-port.ts';
import { takeLock } from '../../store/database.ts';
import type { Db } from '../../store/schema.ts';
import type { Log } from '../../telemetry/log.ts';
import { formatCount } from '../../views/blocks/format.ts';
import type { ExportRequest, ExportSummary } from '../../views/exports/exports.ts';
import { countOverdueFiles } from './retention.ts';
import { putExportMessage } from './run.ts';
import {
  cancellable,
  type ExportPorts,
  type ExportRow,
  endNoticeId,
  exportMessageId,
  findExport,
  finishExport,
  installationOf,
  readOutcome,
  renderOutcome,
  selectExportsOf,
  toExportSummary,
  writeRequest,
} from './store.ts';

export type ExportService = ReturnType<typeof createExportService>;

const mostUnderWay = 3;
// Slack answers in less than a second, unless it wants a pause. Then the message and the export come later.
const mostWaitMs = 3_000;
const pollMs = 50;

/** Exports of event logs, from the form to the file. */
export function createExportService(options: {
  readonly db: Db;
  readonly ports: Pick<ExportPorts, 'slack' | 'outbox' | 'audit'>;
  readonly log: Log;
  readonly now: () => Date;
}) {
  const { db, ports, log, now } = options;
  const findMessage = (id: string) => ports.outbox.find(db, exportMessageId(id));

  async function findIn(person: Person, id: string): Promise<ExportRow | undefined> {
    const row = await findExport(db, id);
    return row?.tenant === tenantId(person) && row.request !== null ? row : undefined;
  }

  /** Best effort: the outbox shows the outcome in the export's message anyway. */
  async function showOutcome(row: ExportRow, at: Posted): Promise<void> {
    const outcome = readOutcome(row);
    if (!outcome) return;
    await ports
      .slack(installationOf(row), new AbortController().signal)
      .update(at, renderOutcome(row, outcome, 'message'))
      .catch((error: unknown) => log.warn({ error, id: row.id }, 'export outcome could not be shown'));
  }

  async function stop(id: string, by: string): Promise<'cancelled' | 'late' | 'over'> {
    const outcome = { kind: 'cancelled', by } as const;
    const isCancelled = await db
      .transaction()
      .execute((trx) => finishExport(trx, options, { id, from: cancellable }, outcome));
    const row = await findExport(db, id);
    if (!isCancelled) return row?.state === 'sharing' ? 'late' : 'over';
    // The person looks at the message, and maybe no worker process runs that would update it.
    const posted = (await findMessage(id))?.posted;
    if (row && posted) await showOutcome(row, posted);
    return 'cancelled';
  }

  /** The export once its message is posted or refused; undefined if that takes too long. */
  async function waitForStart(id: string): Promise<ExportRow | undefined> {
    const until = performance.now() + mostWaitMs;
    while (performance.now() < until) {
      await sleep(pollMs);
      const row = await findExport(db, id);
      if (row?.state !== 'asked') return row;
    }
    return undefined;
  }

  return {
    /**
     * Stores an export, which begins when its message is posted, and waits for that for some seconds: it shows whether
     * the bot may post there. The caller has checked the person's permission.
     *
     * @throws UserError if the message cannot be posted, or the person has too many exports under way.
     */
    async ask(person: Person, wanted: ExportRequest, channel: string | undefined): Promise<void> {
      const tenant = tenantId(person);
      const id = randomBytes(9).toString('base64url');
      await db.transaction().execute(async (trx) => {
        // A person's exports start one after the other.
        await takeLock(trx, `exports/${tenant}/${person.userId}`);
        const request = writeRequest(wanted);
        const open = selectExportsOf(trx, tenant, person.userId).where('ended_at', 'is', null);
        assertRoom(await open.execute(), request, channel);
        const row = {
          id,
          tenant,
          enterprise_id: person.enterpriseId ?? null,
          team_id: person.teamId,
          user_id: person.userId,
          channel: channel ?? null,
          request,
          asked_at: now(),
        };
        const nothing = { state: 'asked', attempt: 0, row_count: 0, byte_count: 0, files: '[]' };
        await trx
          .insertInto('exports')
          .values({ ...row, ...nothing })
          .execute();
        await putExportMessage(trx, row, ports);
      });
      const row = await waitForStart(id);
      const outcome = row && readOutcome(row);
      if (outcome?.kind === 'cancelled')
        throw new UserError('This export was cancelled before it began.', 'The CDN was not asked.');
      // Else it ran and failed already.
      if (outcome?.kind !== 'failed' || row?.attempt !== 0) return;
      // Slack may have posted it: the person was notified.
      if ((await findMessage(id))?.state === 'unknown') return;
      // Slack refused the message, so nothing of the request is kept, unless the person was notified elsewhere meanwhile.
      await db.transaction().execute(async (trx) => {
        if (await ports.outbox.cancel(trx, endNoticeId(id)))
          await trx.deleteFrom('exports').where('id', '=', id).execute();
      });
      const { message, hint = '', reference } = outcome.failure;
      throw new UserError(message, hint, undefined, reference);
    },
    /** Within the person's tenant. Undefined if it does not exist, or its request was erased. */
    async find(person: Person, id: string): Promise<ExportSummary | undefined> {
      const row = await findIn(person, id);
      return row && toExportSummary(row);
    },
    /** How many exported files should be gone from Slack by now and are not. */
    countOverdue: (person: Person, keepDays: number): Promise<number> =>
      countOverdueFiles(db, tenantId(person), keepDays, now()),
    /** The person's exports, newest first. */
    async list(person: Person, most: number): Promise<ExportSummary[]> {
      const rows = selectExportsOf(db, tenantId(person), person.userId).where('request', 'is not', null);
      return (await rows.limit(most).execute()).map(toExportSummary);
    },
    /** The export whose button was pressed in the message `at`; an outdated message is corrected. */
    async findPressed(
      person: Person,
      id: string,
      at: Posted | undefined,
    ): Promise<ExportSummary | undefined> {
      const row = await findIn(person, id);
      if (row && at) await showOutcome(row, at);
      return row && toExportSummary(row);
    },
    /** Ends it at once; a process that works on it notices within a second. `late`: Slack is asked to show the files. */
    cancel: async (person: Person, id: string) =>
      (await findIn(person, id)) ? stop(id, person.userId) : 'over',
    async countUnderWay(person: Person): Promise<number> {
      const open = selectExportsOf(db, tenantId(person), person.userId).where('ended_at', 'is', null);
      return (await open.execute()).length;
    },
    /** Cancels the exports of a person whose key is gone, or of a whole tenant. */
    async endFor({ person, tenant }: { person: Person | undefined; tenant: string }): Promise<void> {
      const open = selectExportsOf(db, tenant, person?.userId).where('state', 'in', cancellable);
      for (const { id } of await open.execute()) await stop(id, 'system');
    },
  };
}

/** @throws UserError for a duplicate (a double click), and for more exports than a disk has room for. */
function assertRoom(open: readonly ExportRow[], request: string, channel: string | undefined): void {
  if (open.some((one) => one.request === request && (one.channel ?? undefined) === channel)) {
    throw new UserError(
      'The same export is under way already.',
      'Its message shows the progress. `/cdn export list` lists yours.',
    );
  }
  if (open.length < mostUnderWay) return;
  throw new UserError(
    `You have ${formatCount(mostUnderWay, 'export')} under way, the most at once.`,
    'Wait for one, or cancel one: `/cdn export list`.',
  );
}
