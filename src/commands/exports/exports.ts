import { randomBytes } from 'node:crypto';
import type { Selectable, UpdateObject } from 'kysely';
import { z } from 'zod';
import type { Audit } from '../../auth/audit/audit.ts';
import {
  type Installation,
  type People,
  type Person,
  readPerson,
  tenantId,
  toPersonColumns,
} from '../../auth/identity.ts';
import type { Authorizer } from '../../auth/policy/authorizer.ts';
import type { Decision } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import { dayMs, hourMs, minuteMs } from '../../lib/time.ts';
import type { DeliverPorts } from '../../outbox/deliver.ts';
import {
  defineMessage,
  type Ended,
  type Outbox,
  type Refusal,
  type RenderContext,
} from '../../outbox/outbox.ts';
import type { OpenSlack, SlackFailure } from '../../outbox/slack-port.ts';
import type { Secret } from '../../secrets/secret.ts';
import { takeLock } from '../../store/database.ts';
import type { Enqueue, JobContext, JobRef } from '../../store/queue.ts';
import type { Db, Schema, Trx } from '../../store/schema.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import { formatCount } from '../../views/blocks/format.ts';
import type {
  ExportOutcome,
  ExportRequest,
  ExportState,
  ExportSummary,
} from '../../views/exports/exports.ts';
import * as views from '../../views/exports/exports.ts';
import { explainRefusal } from './failures.ts';
import type { ExportThread } from './worker/thread.ts';

/** asked → waiting → running → sharing → done, failed, cancelled, unknown. `sharing`: Slack has not answered yet. */

const data = z.object({ id: z.string() });

export const attemptSeconds = 2 * 60 * 60;

/** Enqueue it with the export's id as key. */
export const exportJob: JobRef<z.input<typeof data>> = {
  name: 'export',
  onePerKey: 'running',
  // For killed processes; the row counts attempts.
  retries: 10,
  timeLimitSeconds: attemptSeconds,
  encode: (given) => data.parse(given),
};

export interface ExportPorts {
  readonly slack: OpenSlack;
  readonly readAudience: DeliverPorts['readAudience'];
  readonly outbox: Outbox;
  /** @throws UserError with an offer to connect where no key is linked */
  readonly cdnKey: (person: Person) => Promise<Secret>;
  /** Close it. */
  readonly exportThread: () => ExportThread;
  readonly authorizer: (person: Person) => Authorizer;
  readonly refused: (reason: Decision['reason']) => void;
  readonly people: (installation: Installation) => People;
  readonly audit: Audit;
  readonly enqueue: Enqueue;
  readonly explain: (error: unknown, feature: string) => Failure;
  /** Logs the block and returns the failure `held_back`. */
  readonly blockFile: (kinds: readonly string[]) => SlackFailure;
}

export type ExportContext = JobContext<ExportPorts>;

export type ExportRow = Selectable<Schema['exports']>;

export const cancellable: readonly ExportState[] = ['asked', 'waiting', 'running'];

const storedRequest = z.object({
  shieldZoneId: z.string(),
  from: z.coerce.date(),
  to: z.coerce.date(),
  query: z.string(),
  filters: z.array(z.object({ field: z.string(), op: z.string(), value: z.array(z.string()) })),
  spreadsheetSafe: z.boolean(),
  pseudonyms: z.boolean(),
});

export function toExportSummary(row: ExportRow): ExportSummary {
  const state = row.state as ExportState;
  return {
    id: row.id,
    userId: row.user_id,
    channel: row.channel ?? undefined,
    request: storedRequest.parse(JSON.parse(row.request ?? 'null')),
    state,
    canCancel: cancellable.includes(state),
    rows: row.row_count,
    bytes: row.byte_count,
    askedAt: row.asked_at,
    filesDeletedAt: row.files_deleted_at ?? undefined,
  };
}

export async function findExport(db: Db, id: string): Promise<ExportRow | undefined> {
  return db.selectFrom('exports').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Newest first; of a whole tenant without `userId`. */
function selectExportsOf(db: Db, tenant: string, userId: string | undefined) {
  return db
    .selectFrom('exports')
    .selectAll()
    .where('tenant', '=', tenant)
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? ''))
    .orderBy('asked_at', 'desc');
}

export interface ExportMove {
  readonly id: string;
  readonly from: readonly ExportState[];
  /** Fencing token: a frozen process can change nothing after another attempt began. */
  readonly run?: string;
}

/** Every change is a compare-and-set. Undefined where the export has moved on. */
export async function moveExport(
  db: Db,
  { id, from, run }: ExportMove,
  change: Omit<UpdateObject<Schema, 'exports'>, 'state'> & { readonly state?: ExportState },
): Promise<ExportRow | undefined> {
  return db
    .updateTable('exports')
    .set(change)
    .where('id', '=', id)
    .where('state', 'in', from)
    .$if(run !== undefined, (query) => query.where('run', '=', run ?? ''))
    .returningAll()
    .executeTakeFirst();
}

/** Ends an export, its message and its audit record in one. False if it has moved on already. */
export function finishExport(
  options: ExportOptions,
  move: ExportMove,
  outcome: ExportOutcome,
  sha256?: string,
): Promise<boolean> {
  return options.db.transaction().execute((trx) => finishIn(trx, options, move, outcome, sha256));
}

async function finishIn(
  trx: Trx,
  { ports, now }: ExportOptions,
  move: ExportMove,
  outcome: ExportOutcome,
  sha256?: string,
): Promise<boolean> {
  const ending = JSON.stringify(outcome);
  const row = await moveExport(trx, move, { state: outcome.kind, ending, ended_at: now() });
  if (!row) return false;
  if (!(await ports.outbox.edit(trx, exportMessageId(row.id)))) await putEndNotice(trx, row, ports.outbox);
  const { request, rows, bytes } = toExportSummary(row);
  await ports.audit.record(
    {
      tenant: row.tenant,
      actor: row.user_id,
      event: outcome.kind === 'done' || outcome.kind === 'unknown' ? 'export-made' : 'export-ended',
      subject: `shield zone ${request.shieldZoneId}`,
      detail: {
        export: row.id,
        outcome: outcome.kind,
        by: outcome.kind === 'cancelled' ? outcome.by : undefined,
        from: request.from.toISOString(),
        to: request.to.toISOString(),
        channel: row.channel ?? 'direct message',
        rows,
        bytes,
        filters: request.filters.length,
        pseudonyms: request.pseudonyms,
        spreadsheetSafe: request.spreadsheetSafe,
        sha256,
      },
    },
    trx,
  );
  return true;
}

export function exportMessageId(id: string): string {
  return `export:${id}`;
}

/** Tells the person directly, else its channel, where the export's message cannot. Files say for themselves that it is done. */
async function putEndNotice(trx: Trx, row: ExportRow, outbox: Outbox): Promise<void> {
  if (row.state === 'done' && row.row_count > 0) return;
  await outbox.put(trx, {
    id: `export-end:${row.id}`,
    kind: endNotice,
    about: { id: row.id },
    installation: readPerson(row),
    to: { places: [row.user_id, ...(row.channel === null ? [] : [row.channel])] },
    doubt: 'retry',
  });
}

type AboutExport = { readonly id: string };

const rendering = {
  render: ({ id }: AboutExport, { db }: RenderContext<ExportPorts>) => renderExport(db, id),
  renderInstead: ({ id }: AboutExport, refusal: Refusal, { db }: RenderContext<ExportPorts>) =>
    renderExport(db, id, refusal),
};

const endNotice = defineMessage({ kind: 'export-end', ...rendering });

/** Undefined if the outcome was erased. */
async function renderExport(db: Db, id: string, refusal?: Refusal): Promise<Message | undefined> {
  const row = await findExport(db, id);
  if (!row || row.request === null) return undefined;
  const one = toExportSummary(row);
  const outcome = row.ending === null ? undefined : (JSON.parse(row.ending) as ExportOutcome);
  if (refusal?.code === 'held_back') return outcome && views.renderBlocked(one, refusal.reference);
  return outcome ? views.renderOutcome(one, outcome) : views.renderUnderWay(one);
}

/** While the export runs, it is updated directly. */
const exportMessage = defineMessage({
  kind: 'export',
  ...rendering,
  async ended(trx, ended: Ended<AboutExport>, context: ExportContext) {
    const { id } = ended.about;
    if (ended.state === 'sent') {
      await context.ports.enqueue(exportJob, { id }, { in: trx, key: id });
      return;
    }
    const row = await findExport(trx, id);
    if (!row) return;
    const { message, hint, reference } = explainUnposted(ended, row);
    const outcome: ExportOutcome = { kind: 'failed', failure: { message, hint, reference } };
    const isEnded = await finishIn(trx, context, { id, from: ['asked'] }, outcome);
    if (!isEnded) await putEndNotice(trx, row, context.ports.outbox);
  },
  async editFailed(trx, { about }, context: ExportContext) {
    const row = await findExport(trx, about.id);
    if (row) await putEndNotice(trx, row, context.ports.outbox);
  },
});

export const exportMessages = [exportMessage, endNotice] as const;

function explainUnposted({ state, code, reference }: Ended<AboutExport>, { channel }: ExportRow): UserError {
  if (state === 'unknown' || code === undefined)
    return new UserError(
      'The export did not start: Slack did not confirm its first message.',
      'Export again. If a message still says that it is under way, ignore it.',
    );
  const where = channel === null ? 'your direct messages' : `<#${channel}>`;
  const sentence = `Slack does not let the bot post in ${where} (${code}). The CDN was not asked.`;
  return explainRefusal({ code, reference, sentence });
}

// Two rounds of the job that deletes them.
const graceMs = 2 * hourMs;

/** Files that should have been deleted hours ago and are still in Slack. */
export async function countOverdueFiles(
  db: Db,
  tenant: string,
  keepDays: number,
  now: Date,
): Promise<number> {
  if (keepDays === 0) return 0;
  const rows = await selectWithFiles(db)
    .select('files')
    .where('tenant', '=', tenant)
    .where('ended_at', '<=', new Date(now.getTime() - keepDays * dayMs - graceMs))
    .execute();
  return rows.flatMap(readFiles).length;
}

export function selectWithFiles(db: Db) {
  return db
    .selectFrom('exports')
    .where('state', 'in', ['done', 'unknown'])
    .where('files', '!=', '[]')
    .where('files_deleted_at', 'is', null);
}

export function readFiles({ files }: Pick<ExportRow, 'files'>): string[] {
  return z.array(z.string()).parse(JSON.parse(files));
}

export type ExportService = ReturnType<typeof createExportService>;

const mostUnderWay = 3;
const expiresMs = 15 * minuteMs;

interface ExportOptions {
  readonly db: Db;
  readonly ports: Pick<ExportPorts, 'outbox' | 'audit'>;
  readonly now: () => Date;
}

export function createExportService(options: ExportOptions) {
  const { db, ports, now } = options;

  async function findIn(person: Person, id: string): Promise<ExportRow | undefined> {
    const row = await findExport(db, id);
    return row?.tenant === tenantId(person) && row.request !== null ? row : undefined;
  }

  const stop = (id: string, by: string): Promise<boolean> =>
    finishExport(options, { id, from: cancellable }, { kind: 'cancelled', by });

  return {
    /** Begins when its message is posted. The caller has checked the permission. @throws UserError for too many. */
    async ask(person: Person, wanted: ExportRequest, channel: string | undefined): Promise<void> {
      const tenant = tenantId(person);
      await db.transaction().execute(async (trx) => {
        await takeLock(trx, `exports/${tenant}/${person.userId}`);
        const request = JSON.stringify(storedRequest.parse(wanted));
        const open = selectExportsOf(trx, tenant, person.userId).where('ended_at', 'is', null);
        assertRoom(await open.execute(), request, channel);
        const row = {
          id: randomBytes(9).toString('base64url'),
          ...toPersonColumns(person),
          channel: channel ?? null,
          request,
          asked_at: now(),
          state: 'asked',
          attempt: 0,
          row_count: 0,
          byte_count: 0,
          files: '[]',
        };
        await trx.insertInto('exports').values(row).execute();
        await ports.outbox.put(trx, {
          id: exportMessageId(row.id),
          kind: exportMessage,
          about: { id: row.id },
          installation: person,
          to: { places: [channel ?? person.userId] },
          doubt: 'look',
          expiresAt: new Date(now().getTime() + expiresMs),
        });
      });
    },
    /** Undefined if it does not exist in the person's tenant, or was erased. */
    async find(person: Person, id: string): Promise<ExportSummary | undefined> {
      const row = await findIn(person, id);
      return row && toExportSummary(row);
    },
    countOverdue: (person: Person, keepDays: number): Promise<number> =>
      countOverdueFiles(db, tenantId(person), keepDays, now()),
    async list(person: Person, most: number): Promise<ExportSummary[]> {
      const rows = selectExportsOf(db, tenantId(person), person.userId).where('request', 'is not', null);
      return (await rows.limit(most).execute()).map(toExportSummary);
    },
    /** A process that works on it notices within seconds. `late`: Slack is asked to show the files. */
    async cancel(person: Person, id: string): Promise<'cancelled' | 'late' | 'over'> {
      if ((await findIn(person, id)) && (await stop(id, person.userId))) return 'cancelled';
      return (await findIn(person, id))?.state === 'sharing' ? 'late' : 'over';
    },
    async countUnderWay(person: Person): Promise<number> {
      const open = selectExportsOf(db, tenantId(person), person.userId).where('ended_at', 'is', null);
      return (await open.execute()).length;
    },
    /** For a person whose key is gone, or a whole tenant. */
    async endFor({ person, tenant }: { person: Person | undefined; tenant: string }): Promise<void> {
      const open = selectExportsOf(db, tenant, person?.userId).where('state', 'in', cancellable);
      for (const { id } of await open.execute()) await stop(id, 'system');
    },
  };
}

/** @throws UserError for a double click, and for more than a disk has room for */
function assertRoom(open: readonly ExportRow[], request: string, channel: string | undefined): void {
  if (open.some((one) => one.request === request && (one.channel ?? undefined) === channel)) {
    throw new UserError(
      'This export is already under way.',
      'Its message shows the progress. `/cdn export list` lists yours.',
    );
  }
  if (open.length < mostUnderWay) return;
  throw new UserError(
    `You already have ${formatCount(mostUnderWay, 'export')} under way, the maximum.`,
    'Wait for one, or cancel one: `/cdn export list`.',
  );
}
