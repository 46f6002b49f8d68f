import { type SelectQueryBuilder, sql } from 'kysely';
import { z } from 'zod';
import { type Person, tenantId } from '../../auth/identity.ts';
import { type Json, parseJson } from '../../lib/canonical-json.ts';
import type { Db, Schema } from '../../store/schema.ts';
import { findVariableName, type Operation, type OperationState } from './model.ts';
import { type EventRow, type OperationRow, outcomeShape } from './rows.ts';
import { readRequest, unreadableRequest } from './seal.ts';

/** A row with its log, and the id of the operation that retries it. */
export interface LoggedOperation {
  readonly row: OperationRow;
  readonly events: readonly EventRow[];
  readonly triedAgainAs: string | undefined;
}

type Find = { readonly db: Db };
type FindNow = Find & { readonly now: () => Date };

export async function findOperation(
  { db }: Find,
  tenant: string,
  id: string,
): Promise<Operation | undefined> {
  // A button's value may be anything; neither engine takes NUL.
  if (!/^[a-z0-9]{16}$/.test(id)) return undefined;
  const [found] = await readOperations(db, (rows) => rows.where('id', '=', id).where('tenant', '=', tenant));
  return found;
}

/** The operations that a person proposed, newest first. */
export function findRequestedBy({ db }: Find, person: Person, most: number): Promise<Operation[]> {
  return readOperations(db, (rows) =>
    rows
      .where('tenant', '=', tenantId(person))
      .where('user_id', '=', person.userId)
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .limit(most),
  );
}

// Upper bound of the list. The oldest are shown, so the next to expire is among them.
const mostWaiting = 100;

/** The operations that an approver can still approve: proposed by others and not approved by them. Oldest first. */
export function findWaitingFor({ db, now }: FindNow, person: Person): Promise<Operation[]> {
  return readOperations(db, (rows) =>
    rows
      .where('tenant', '=', tenantId(person))
      .where('state', '=', 'proposed')
      .where('expires_at', '>', now())
      .where('user_id', '<>', person.userId)
      .where((where) =>
        where.not(
          where.exists(
            where
              .selectFrom('operation_events')
              .select('seq')
              .whereRef('operation_id', '=', 'operations.id')
              .where('actor', '=', person.userId)
              .where('what', '=', 'approval'),
          ),
        ),
      )
      .orderBy('created_at')
      .orderBy('id')
      .limit(mostWaiting),
  );
}

/** Proposed operations past half of their time whose approvers have not been reminded. */
export function findOperationsToRemind({ db, now }: FindNow): Promise<Operation[]> {
  return readOperations(db, (rows) =>
    rows
      .where('state', '=', 'proposed')
      .where('reminded_at', 'is', null)
      .where('expires_at', '>', now())
      .where(sql<boolean>`created_at + (expires_at - created_at) / 2 <= ${now()}`)
      .orderBy('id'),
  );
}

/** The row, locked until the transaction ends, with its log. */
export async function lockOperation(trx: Db, id: string): Promise<LoggedOperation | undefined> {
  const row = await trx
    .selectFrom('operations')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  // The log is read by a statement after the lock, so that it has what the previous holder wrote.
  return row && (await withLogs(trx, [row]))[0];
}

/** A row as people see it. Total: a row that was tampered with still reads, and its next press voids it. */
export function readOperation({ row, events, triedAgainAs }: LoggedOperation): Operation {
  const kind = row.kind === 'volume-delete' ? row.kind : 'variable-update';
  return {
    id: row.id,
    tenant: row.tenant,
    kind,
    state: row.state as OperationState,
    requester: { enterpriseId: row.enterprise_id ?? undefined, teamId: row.team_id, userId: row.user_id },
    channelId: row.channel_id ?? undefined,
    request: readRequest(row) ?? unreadableRequest(kind),
    reason: row.reason ?? undefined,
    snapshot: (parseJson(row.snapshot) ?? null) as Json,
    keyFingerprint: row.cdn_key?.split(' ')[1],
    policyVersion: row.policy_version,
    approvalsNeeded: row.approvals_needed,
    approvals: findApprovals(events).map(({ actor, at }) => ({ by: actor, at })),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    seal: row.seal,
    movedBy: row.moved_by,
    movedAt: row.moved_at,
    outcome: outcomeShape.safeParse(parseJson(row.outcome ?? '')).data,
    approvers: z.array(z.string()).safeParse(parseJson(row.approvers)).data ?? [],
    attemptOf: row.attempt_of ?? undefined,
    triedAgainAs,
  };
}

/** The approvals in a log that people, not the system, gave. */
export function findApprovals(events: readonly EventRow[]): EventRow[] {
  return events.filter(
    ({ what, actor }) => (what === 'approval' || what === 'approved') && actor !== 'system',
  );
}

type Rows = SelectQueryBuilder<Schema, 'operations', OperationRow>;

async function readOperations(db: Db, narrow: (rows: Rows) => Rows): Promise<Operation[]> {
  const rows = await narrow(db.selectFrom('operations').selectAll()).execute();
  return (await withLogs(db, rows)).map(readOperation);
}

async function withLogs(db: Db, rows: readonly OperationRow[]): Promise<LoggedOperation[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const events = await db
    .selectFrom('operation_events')
    .selectAll()
    .where('operation_id', 'in', ids)
    .orderBy('seq')
    .execute();
  const retries = await db
    .selectFrom('operations')
    .select(['id', 'attempt_of'])
    .where('attempt_of', 'in', ids)
    .execute();
  const eventsOf = Map.groupBy(events, (event) => event.operation_id);
  const retryOf = new Map(retries.map((row) => [row.attempt_of, row.id]));
  return rows.map((row) => ({ row, events: eventsOf.get(row.id) ?? [], triedAgainAs: retryOf.get(row.id) }));
}

// Enough to reach one that has the name: every request after the first that told it carries it.
const mostNamesakes = 10;

/** The name that the CDN last gave the variable of this path; undefined = no change through the bot has told it yet. */
export async function loadVariableName({ db }: Find, tenant: string, path: string) {
  const found = await readOperations(db, (rows) =>
    rows
      .where((is) => is.and({ tenant, path }))
      .orderBy('moved_at', 'desc')
      .limit(mostNamesakes),
  );
  return found.map(findVariableName).find((name) => name !== undefined);
}

/** Version and fingerprint of the requester's CDN key as it is now, in the words of `cdn_key`; null = they have none. */
export async function findCdnKey(
  { db }: Find,
  { tenant, user_id: userId }: Pick<OperationRow, 'tenant' | 'user_id'>,
): Promise<string | null> {
  const key = await db
    .selectFrom('linked_keys')
    .select(['version', 'fingerprint'])
    .where((is) => is.and({ tenant, user_id: userId }))
    .executeTakeFirst();
  return key ? `${key.version} ${key.fingerprint}` : null;
}

/** As both engines store text: neither takes NUL or half a surrogate pair. */
export function toStorable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
