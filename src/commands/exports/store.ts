import type { Selectable, UpdateObject } from 'kysely';
import { z } from 'zod';
import type { Audit } from '../../auth/audit/audit.ts';
import type { Installation, People, Person } from '../../auth/identity.ts';
import type { Authorizer } from '../../auth/policy/authorizer.ts';
import type { Decision } from '../../auth/policy/policy.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import type { OpenSlack, SlackFailure } from '../../outbox/slack-port.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { JobContext } from '../../store/queue/define-job.ts';
import type { Enqueue } from '../../store/queue/queue.ts';
import type { Db, Schema } from '../../store/schema.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import type { ExportRequest, ExportState, ExportSummary } from '../../views/exports/exports.ts';
import type { ExportThread } from './worker/thread.ts';

export interface ExportPorts {
  readonly slack: OpenSlack;
  /** Messages that Slack must get exactly once. */
  readonly outbox: Outbox;
  /** The person's own key. @throws UserError with an offer to connect where no key is linked. */
  readonly cdnKey: (person: Person) => Promise<Secret>;
  /** Starts the worker thread of one export. Close it. */
  readonly exportThread: () => ExportThread;
  /** Decides by the current policy. */
  readonly authorizer: (person: Person) => Authorizer;
  /** Counts a refusal by the policy's reason. */
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

/** Of an export whose request was not erased. */
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
