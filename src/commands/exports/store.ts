import type { Selectable, UpdateObject } from 'kysely';
import { z } from 'zod';
import type { Audit } from '../../auth/audit/audit.ts';
import type { Installation, People, Person } from '../../auth/identity.ts';
import type { Authorizer } from '../../auth/policy/authorizer.ts';
import type { Decision } from '../../auth/policy/policy.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import { defineMessage, type Refusal, type RenderContext } from '../../outbox/outbox.ts';
import type { OpenSlack, SlackFailure } from '../../outbox/slack-port.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { JobContext } from '../../store/queue/define-job.ts';
import type { Enqueue } from '../../store/queue/queue.ts';
import type { Db, Schema, Trx } from '../../store/schema.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import type { ExportRequest, ExportState, ExportSummary } from '../../views/exports/exports.ts';
import * as views from '../../views/exports/exports.ts';
import type { ExportThread } from './worker/thread.ts';

export interface ExportPorts {
  readonly slack: OpenSlack;
  readonly outbox: Outbox;
  /** The person's own key. @throws UserError with an offer to connect where no key is linked. */
  readonly cdnKey: (person: Person) => Promise<Secret>;
  /** Starts the worker thread of one export. Close it. */
  readonly exportThread: () => ExportThread;
  readonly authorizer: (person: Person) => Authorizer;
  readonly refused: (reason: Decision['reason']) => void;
  readonly people: (installation: Installation) => People;
  readonly audit: Audit;
  readonly enqueue: Enqueue;
  /** Logs a failure and explains it to a person, with the log's reference. */
  readonly explain: (error: unknown, feature: string) => Failure;
  /** Logs that a file was not sent since live secrets of these kinds are in it. Returns the failure `held_back`. */
  readonly blockFile: (kinds: readonly string[]) => SlackFailure;
}

export type ExportContext = JobContext<ExportPorts>;

export type ExportRow = Selectable<Schema['exports']>;

/** The states in which an export can be cancelled. */
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

/** As JSON; the same request is always the same text. */
export function writeRequest(request: ExportRequest): string {
  return JSON.stringify(storedRequest.parse(request));
}

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
    endedAt: row.ended_at ?? undefined,
    filesDeletedAt: row.files_deleted_at ?? undefined,
  };
}

export function requesterOf(row: ExportRow): Person {
  return { ...installationOf(row), userId: row.user_id };
}

export function installationOf(row: Pick<ExportRow, 'team_id' | 'enterprise_id'>): Installation {
  return { teamId: row.team_id, enterpriseId: row.enterprise_id ?? undefined };
}

export async function findExport(db: Db, id: string): Promise<ExportRow | undefined> {
  return db.selectFrom('exports').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The exports of a person, or of a whole tenant, newest first. */
export function selectExportsOf(db: Db, tenant: string, userId: string | undefined) {
  return db
    .selectFrom('exports')
    .selectAll()
    .where('tenant', '=', tenant)
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? ''))
    .orderBy('asked_at', 'desc');
}

/** Which export moves, from which states, and which attempt has to have it. */
export interface ExportMove {
  readonly id: string;
  readonly from: readonly ExportState[];
  /** Fencing token: a process that was frozen while another attempt began can change nothing. */
  readonly run?: string;
}

/** Every change of an export is a compare-and-set. Undefined where it has moved on: another attempt, cancelled, ended. */
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

/** The outcome of an export as stored, for its message. The other facts are columns. */
export type ExportOutcome =
  | (views.Done & { readonly kind: 'done' })
  | { readonly kind: 'unknown' }
  | { readonly kind: 'cancelled'; readonly by: string }
  /** `canRepeat`: the same export may work later. */
  | { readonly kind: 'failed'; readonly failure: Failure; readonly canRepeat: boolean };

export interface FinishContext {
  readonly ports: Pick<ExportPorts, 'audit' | 'outbox'>;
  readonly now: () => Date;
}

/** What is stored when an export ends. `sha256` goes into the audit. */
export interface FinishFacts extends Pick<Partial<ExportRow>, 'row_count' | 'byte_count' | 'files'> {
  readonly sha256?: string | undefined;
}

/**
 * Ends an export: its last state, its message, which becomes the outcome, and the audit record. False if it has moved on
 * already.
 */
export async function finishExport(
  trx: Trx,
  { ports, now }: FinishContext,
  move: ExportMove,
  outcome: ExportOutcome,
  { sha256, ...columns }: FinishFacts = {},
): Promise<boolean> {
  const ending = JSON.stringify(outcome);
  const row = await moveExport(trx, move, { ...columns, state: outcome.kind, ending, ended_at: now() });
  if (!row) return false;
  if (!(await ports.outbox.edit(trx, exportMessageId(row.id)))) await putEndNotice(trx, row, { ports });
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
        ...(outcome.kind === 'cancelled' ? { by: outcome.by } : {}),
        from: request.from.toISOString(),
        to: request.to.toISOString(),
        channel: row.channel ?? 'direct message',
        rows,
        bytes,
        filters: request.filters.length,
        pseudonyms: request.pseudonyms,
        spreadsheetSafe: request.spreadsheetSafe,
        ...(sha256 === undefined ? {} : { sha256 }),
      },
    },
    trx,
  );
  return true;
}

/** The id in the outbox of the message that shows the progress, then the outcome. */
export function exportMessageId(id: string): string {
  return `export:${id}`;
}

/** Tells the person directly: the export's message cannot show the outcome. Its files say for themselves that it is done. */
export async function putEndNotice(
  trx: Trx,
  row: ExportRow,
  { ports }: { readonly ports: Pick<ExportPorts, 'outbox'> },
): Promise<void> {
  if (row.state === 'done') return;
  await ports.outbox.put(trx, {
    id: `export-end:${row.id}`,
    kind: endNotice,
    about: { id: row.id },
    installation: installationOf(row),
    to: { places: [row.user_id] },
    doubt: 'once',
  });
}

export type AboutExport = { readonly id: string };

export const endNotice = defineMessage({
  kind: 'export-end',
  render: ({ id }: AboutExport, { db }: RenderContext<ExportPorts>) => renderExport(db, id),
  renderInstead: ({ id }, refusal, { db }) => renderExport(db, id, refusal),
});

/** The current message of an export; undefined if its outcome was erased. */
export async function renderExport(db: Db, id: string, refusal?: Refusal): Promise<Message | undefined> {
  const row = await findExport(db, id);
  if (!row || row.request === null) return undefined;
  const one = toExportSummary(row);
  const outcome = row.ending === null ? undefined : (JSON.parse(row.ending) as ExportOutcome);
  if (refusal?.code === 'held_back') return outcome && views.renderBlocked(one, refusal.reference);
  switch (outcome?.kind) {
    case undefined:
      return views.renderUnderWay(one);
    case 'done':
      return views.renderDone(one, outcome);
    case 'unknown':
      return views.renderUnknown(one);
    case 'cancelled':
      return views.renderCancelled(one, outcome.by);
    case 'failed':
      return views.renderFailed(one, outcome.failure, outcome.canRepeat);
  }
}
