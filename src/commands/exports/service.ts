import { randomBytes } from 'node:crypto';
import { type Person, tenantId } from '../../auth/identity.ts';
import { UserError } from '../../errors.ts';
import { takeLock } from '../../store/database.ts';
import type { Db } from '../../store/schema.ts';
import { formatCount } from '../../views/blocks/format.ts';
import type { ExportRequest, ExportSummary } from '../../views/exports/exports.ts';
import { countOverdueFiles } from './retention.ts';
import { putExportMessage } from './run.ts';
import {
  cancellable,
  type ExportPorts,
  type ExportRow,
  findExport,
  finishExport,
  selectExportsOf,
  toExportSummary,
  writeRequest,
} from './store.ts';

export type ExportService = ReturnType<typeof createExportService>;

const mostUnderWay = 3;

/** Exports of event logs, from the form to the file. */
export function createExportService(options: {
  readonly db: Db;
  readonly ports: Pick<ExportPorts, 'outbox' | 'audit'>;
  readonly now: () => Date;
}) {
  const { db, ports, now } = options;

  async function findIn(person: Person, id: string): Promise<ExportRow | undefined> {
    const row = await findExport(db, id);
    return row?.tenant === tenantId(person) && row.request !== null ? row : undefined;
  }

  async function stop(id: string, by: string): Promise<boolean> {
    const move = { id, from: cancellable };
    return db.transaction().execute((trx) => finishExport(trx, options, move, { kind: 'cancelled', by }));
  }

  return {
    /**
     * Stores an export, which begins when its message is posted. The caller has checked the person's permission.
     *
     * @throws UserError if the person has too many exports under way.
     */
    async ask(person: Person, wanted: ExportRequest, channel: string | undefined): Promise<void> {
      const tenant = tenantId(person);
      await db.transaction().execute(async (trx) => {
        // A person's exports start one after the other.
        await takeLock(trx, `exports/${tenant}/${person.userId}`);
        const request = writeRequest(wanted);
        const open = selectExportsOf(trx, tenant, person.userId).where('ended_at', 'is', null);
        assertRoom(await open.execute(), request, channel);
        const row = {
          id: randomBytes(9).toString('base64url'),
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
    /** Ends it at once; a process that works on it notices within seconds. `late`: Slack is asked to show the files. */
    async cancel(person: Person, id: string): Promise<'cancelled' | 'late' | 'over'> {
      if ((await findIn(person, id)) && (await stop(id, person.userId))) return 'cancelled';
      return (await findIn(person, id))?.state === 'sharing' ? 'late' : 'over';
    },
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
