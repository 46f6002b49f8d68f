import { type SelectQueryBuilder, sql } from 'kysely';
import { z } from 'zod';
import { isObject } from '../../api/http/errors.ts';
import { type Person, tenantId } from '../../auth/identity.ts';
import { type Json, parseJson } from '../../lib/canonical-json.ts';
import type { Db, Schema } from '../../store/schema.ts';
import type { Consequences } from '../../views/operations/describe.ts';
import {
  type EventRow,
  findKind,
  type Kind,
  type Kinds,
  type OperationOutcome,
  type OperationRow,
  outcomeShape,
} from './kinds/kind.ts';
import type { Operation, OperationState } from './model.ts';
import { readRequest } from './seal.ts';

export interface LoggedOperation {
  readonly row: OperationRow;
  readonly events: readonly EventRow[];
  readonly triedAgainAs: string | undefined;
}

type Find = { readonly db: Db; readonly kinds: Kinds };
type FindNow = Find & { readonly now: () => Date };

export async function findOperation(find: Find, tenant: string, id: string): Promise<Operation | undefined> {
  // A button's value may be anything; neither engine takes NUL.
  if (!/^[a-z0-9]{16}$/.test(id)) return undefined;
  return (await readOperations(find, (rows) => rows.where((is) => is.and({ id, tenant }))))[0];
}

export function findRequestedBy(find: Find, person: Person, most: number): Promise<Operation[]> {
  const own = { tenant: tenantId(person), user_id: person.userId };
  return readOperations(find, (rows) =>
    rows
      .where((is) => is.and(own))
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .limit(most),
  );
}

// Upper bound of the list. The oldest are shown, so the next to expire is among them.
const mostWaiting = 100;

/** The operations that a person may still approve: proposed by others and not approved by them. Oldest first. */
export function findWaitingFor({ now, ...find }: FindNow, person: Person): Promise<Operation[]> {
  const { userId } = person;
  return readOperations(find, (rows) =>
    rows
      .where((is) => is.and({ tenant: tenantId(person), state: 'proposed' }))
      .where('expires_at', '>', now())
      .where('user_id', '<>', userId)
      // Else its own person confirms it.
      .where('approvals_needed', '>', 0)
      .where(sql<boolean>`not exists (select from operation_events
        where operation_id = operations.id and actor = ${userId} and what = 'approval')`)
      .orderBy('created_at')
      .orderBy('id')
      .limit(mostWaiting),
  );
}

export async function findWaitingOf({ now, ...find }: FindNow, tenant: string, kind: string) {
  const found = await readOperations(find, (rows) =>
    rows
      .where((is) => is.and({ tenant, kind, state: 'proposed' }))
      .where('expires_at', '>', now())
      .orderBy('created_at', 'desc')
      .limit(1),
  );
  return found[0];
}

/** Proposed operations past half of their time whose approvers have not been reminded. */
export function findOperationsToRemind({ now, ...find }: FindNow): Promise<Operation[]> {
  return readOperations(find, (rows) =>
    rows
      .where((is) => is.and({ state: 'proposed', reminded_at: null }))
      .where('approvals_needed', '>', 0)
      .where('expires_at', '>', now())
      .where(sql<boolean>`created_at + (expires_at - created_at) / 2 <= ${now()}`)
      .orderBy('id'),
  );
}

/** The row, locked until the transaction ends, with its log. */
export async function lockOperation(trx: Db, id: string): Promise<LoggedOperation | undefined> {
  const rows = trx.selectFrom('operations').selectAll().where('id', '=', id);
  const row = await rows.forUpdate().executeTakeFirst();
  // The log is read by a statement after the lock, so that it has what the previous holder wrote.
  return row && (await withLogs(trx, [row]))[0];
}

/** A row as people see it. Total: a row that was tampered with still reads, and its next press voids it. */
export function readOperation(kinds: Kinds, { row, events, triedAgainAs }: LoggedOperation): Operation {
  const kind = findKind(kinds, row.kind);
  const request = readRequest(kinds, row);
  const snapshot = (parseJson(row.snapshot) ?? null) as Json;
  const outcome = outcomeShape.safeParse(parseJson(row.outcome ?? '')).data;
  const told = { name: findTargetName(snapshot, outcome), snapshot };
  return {
    id: row.id,
    tenant: row.tenant,
    kind: row.kind,
    state: row.state as OperationState,
    requester: { enterpriseId: row.enterprise_id ?? undefined, teamId: row.team_id, userId: row.user_id },
    channelId: row.channel_id ?? undefined,
    request,
    words: {
      what: request === undefined ? 'do something that can no longer be read' : kind.describe(request, told),
      consequences: describeConsequences(kind, snapshot, request),
      outcome: request === undefined || !outcome ? undefined : kind.describeOutcome?.(outcome, request, told),
      isDestructive: kind.right === 'destroy',
      labels: kind.approval?.labels,
    },
    via: row.via ?? undefined,
    setsValue: row.value_mac !== null,
    reason: row.reason ?? undefined,
    snapshot,
    keyFingerprint: row.cdn_key?.split(' ')[1],
    policyVersion: row.policy_version,
    approvalsNeeded: row.approvals_needed,
    approvals: findApprovals(events).map(({ actor, at }) => ({ by: actor, at })),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    seal: row.seal,
    movedBy: row.moved_by,
    movedAt: row.moved_at,
    outcome,
    approvers: z.array(z.string()).safeParse(parseJson(row.approvers)).data ?? [],
    attemptOf: row.attempt_of ?? undefined,
    triedAgainAs,
  };
}

function describeConsequences(kind: Kind<unknown>, snapshot: Json, request: unknown): Consequences {
  try {
    if (request !== undefined) return kind.consequences(snapshot, request);
  } catch {
    // Facts that this kind did not write.
  }
  return { text: 'The consequences were not kept.' };
}

/** The name of an operation's target as the CDN told it, in the answer to it or to an earlier one. Foreign text. */
export function findTargetName(snapshot: Json, outcome: OperationOutcome | undefined): string | undefined {
  const known = isObject(snapshot) ? snapshot['name'] : undefined;
  const name = outcome?.facts?.['name'] ?? known;
  return typeof name === 'string' ? name : undefined;
}

/** The approvals in a log that people, not the system, gave. */
export function findApprovals(events: readonly EventRow[]): EventRow[] {
  return events.filter(
    ({ what, actor }) => (what === 'approval' || what === 'approved') && actor !== 'system',
  );
}

type Rows = SelectQueryBuilder<Schema, 'operations', OperationRow>;

async function readOperations({ db, kinds }: Find, narrow: (rows: Rows) => Rows): Promise<Operation[]> {
  const rows = await narrow(db.selectFrom('operations').selectAll()).execute();
  return (await withLogs(db, rows)).map((logged) => readOperation(kinds, logged));
}

async function withLogs(db: Db, rows: readonly OperationRow[]): Promise<LoggedOperation[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const events = db.selectFrom('operation_events').selectAll().where('operation_id', 'in', ids);
  const eventsOf = Map.groupBy(await events.orderBy('seq').execute(), (event) => event.operation_id);
  const retries = db.selectFrom('operations').select(['id', 'attempt_of']).where('attempt_of', 'in', ids);
  const retryOf = new Map((await retries.execute()).map((row) => [row.attempt_of, row.id]));
  return rows.map((row) => ({ row, events: eventsOf.get(row.id) ?? [], triedAgainAs: retryOf.get(row.id) }));
}

// Enough to reach one that has the name: every request after the first that told it carries it.
const mostNamesakes = 10;

/** The name that the CDN last gave the target of this path; undefined = no operation has told it yet. */
export async function findNameOf({ db }: Pick<Find, 'db'>, tenant: string, path: string) {
  return (await readNames(db, { tenant, path }, mostNamesakes))[0]?.name;
}

// Searched for a name, from the newest.
const mostSearched = 500;

/** The path of the target that the CDN last called so. Case counts: names of variables differ by it. */
export async function findPathOf({ db }: Pick<Find, 'db'>, tenant: string, kind: string, name: string) {
  const found = await readNames(db, { tenant, kind }, mostSearched);
  return found.find((one) => one.name === name)?.path;
}

async function readNames(db: Db, which: { tenant: string; path?: string; kind?: string }, most: number) {
  const rows = db.selectFrom('operations').selectAll();
  const newest = rows.where((is) => is.and(which)).orderBy('moved_at', 'desc');
  return (await newest.limit(most).execute()).flatMap(({ path, snapshot, outcome }) => {
    const told = outcomeShape.safeParse(parseJson(outcome ?? '')).data;
    const name = findTargetName((parseJson(snapshot) ?? null) as Json, told);
    return name === undefined ? [] : [{ path, name }];
  });
}

/** The version of the settings that holds in this transaction. */
export async function findPolicyVersion(db: Db, tenant: string): Promise<number> {
  const versions = db.selectFrom('policies').select('version').where('tenant', '=', tenant);
  return (await versions.orderBy('version', 'desc').limit(1).executeTakeFirst())?.version ?? 0;
}

/** Version and fingerprint of the requester's current CDN key, in the form of `cdn_key`; null = they have none. */
export async function findCdnKey(
  { db }: Pick<Find, 'db'>,
  { tenant, user_id: userId }: Pick<OperationRow, 'tenant' | 'user_id'>,
): Promise<string | null> {
  const keys = db.selectFrom('linked_keys').select(['version', 'fingerprint']);
  const key = await keys.where((is) => is.and({ tenant, user_id: userId })).executeTakeFirst();
  return key ? `${key.version} ${key.fingerprint}` : null;
}

/** As both engines store text: neither takes NUL or half a surrogate pair. */
export function toStorable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
