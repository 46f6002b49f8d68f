import { type SelectQueryBuilder, sql } from 'kysely';
import { z } from 'zod';
import { isObject } from '../../api/http/errors.ts';
import { ofPerson, type Person, readPerson, tenantId } from '../../auth/identity.ts';
import type { Actor, Decision, Policy } from '../../auth/policy/policy.ts';
import { type Json, parseJson } from '../../lib/canonical-json.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { Db, Schema } from '../../store/schema.ts';
import type { ShownAnswer } from '../../views/operations/approvals.ts';
import type { Consequences, ShownOperation } from '../../views/operations/describe.ts';
import {
  type EventRow,
  findKind,
  type Kind,
  type Kinds,
  type OperationOutcome,
  type OperationRow,
  outcomeShape,
  type Told,
} from './kinds/kind.ts';

const transitions = {
  /** Fails only as `void`. */
  proposed: ['approved', 'denied', 'expired', 'cancelled', 'failed'],
  approved: ['executing', 'expired', 'cancelled', 'failed'],
  executing: ['succeeded', 'failed', 'unknown'],
  /** The request may have been sent, and no clear answer came back: only a person decides what happened. */
  unknown: ['succeeded', 'failed'],
  succeeded: [],
  failed: [],
  denied: [],
  expired: [],
  cancelled: [],
} as const;
export type OperationState = keyof typeof transitions;
export const transitionsFrom: Readonly<Record<OperationState, readonly OperationState[]>> = transitions;

export type Approval = { readonly by: string; readonly at: Date };

/** A row with its log, and what they say. Total: a row that was tampered with still reads, and its next press voids it. */
export interface Operation extends ShownOperation, Told {
  readonly row: OperationRow;
  readonly events: readonly EventRow[];
  readonly tenant: string;
  readonly kind: Kind<unknown>;
  readonly requester: Person;
  /** Undefined where the row does not hold a request of its kind in its one spelling. */
  readonly request: unknown;
  readonly approvals: readonly Approval[];
  readonly outcome: OperationOutcome | undefined;
  /** Those who could approve it when it was proposed. */
  readonly approvers: readonly string[];
}

export interface Proposal
  extends Pick<Operation, 'kind' | 'request' | 'requester' | 'reason' | 'snapshot' | 'approvers'> {
  readonly channelId: string | undefined;
  readonly value?: Secret | undefined;
  readonly policy: Policy;
  readonly stepRun?: string | undefined;
  readonly via?: string | undefined;
  /** Its person has just confirmed it, by the form in which they typed its value. */
  readonly isConfirmed?: boolean | undefined;
}

/** Policy and people as they are now. `clicker`: who presses; the requester where nobody does. */
export interface DecisionContext extends Record<'requester' | 'clicker', Actor> {
  readonly policy: Policy;
  readonly approvers: readonly Actor[];
}

export type Answer =
  | ShownAnswer<Operation>
  | { readonly kind: 'not-allowed'; readonly decision: Decision; readonly operation: Operation };

type Find = { readonly db: Db; readonly kinds: Kinds };
type FindNow = Find & { readonly now: () => Date };

export async function findOperation(find: Find, tenant: string, id: string): Promise<Operation | undefined> {
  // A button's value may be anything; neither engine takes NUL.
  if (!/^[a-z0-9]{16}$/.test(id)) return undefined;
  return (await readOperations(find, (rows) => rows.where((is) => is.and({ id, tenant }))))[0];
}

export function findRequestedBy(find: Find, person: Person, most: number): Promise<Operation[]> {
  return readOperations(find, (rows) =>
    rows
      .where((is) => is.and(ofPerson(person)))
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .limit(most),
  );
}

const mostWaiting = 100;

/** The operations that a person may still approve. Oldest first. */
export function findWaitingFor({ now, ...find }: FindNow, person: Person): Promise<Operation[]> {
  const { userId } = person;
  return readOperations(find, (rows) =>
    rows
      .where((is) => is.and({ tenant: tenantId(person), state: 'proposed' }))
      .where('expires_at', '>', now())
      .where('user_id', '<>', userId)
      .where('approvals_needed', '>', 0)
      .where(sql<boolean>`not exists (select from operation_events
        where operation_id = operations.id and actor = ${userId} and what = 'approval')`)
      .orderBy('created_at')
      .orderBy('id')
      .limit(mostWaiting),
  );
}

export async function lockOperation(find: Find, id: string): Promise<Operation | undefined> {
  const rows = find.db.selectFrom('operations').selectAll().where('id', '=', id);
  const row = await rows.forUpdate().executeTakeFirst();
  // The log is read by a statement after the lock, so that it has what the previous holder wrote.
  return row && (await readWithLogs(find, [row]))[0];
}

export function readRequest(kind: Kind<unknown>, row: OperationRow): unknown {
  try {
    const request = kind.parse({ ...row, setsValue: row.value_mac !== null });
    const { method, path, body } = kind.request(request);
    return method === row.method && path === row.path && body === row.body ? request : undefined;
  } catch {
    return undefined;
  }
}

export function readOperation(kinds: Kinds, row: OperationRow, events: readonly EventRow[]): Operation {
  const kind = findKind(kinds, row.kind);
  const request = readRequest(kind, row);
  const told = readTold(row);
  const { snapshot, outcome } = told;
  return {
    ...told,
    row,
    events,
    id: row.id,
    tenant: row.tenant,
    kind,
    state: row.state as OperationState,
    requester: readPerson(row),
    request,
    words: {
      what: request === undefined ? 'do something that can no longer be read' : kind.describe(request, told),
      consequences: describeConsequences(kind, snapshot, request),
      outcome: request === undefined || !outcome ? undefined : kind.describeOutcome?.(outcome, request, told),
      again: request === undefined ? undefined : kind.again?.(request),
      isDestructive: kind.right === 'destroy',
      labels: kind.approval?.labels,
    },
    via: row.via ?? undefined,
    reason: row.reason ?? undefined,
    keyFingerprint: row.cdn_key?.split(' ')[1],
    approvalsNeeded: row.approvals_needed,
    approvals: findApprovals(events).map(({ actor, at }) => ({ by: actor, at })),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    seal: row.seal,
    movedBy: row.moved_by,
    movedAt: row.moved_at,
    approvers: z.array(z.string()).safeParse(parseJson(row.approvers)).data ?? [],
  };
}

function readTold(row: OperationRow) {
  const snapshot = (parseJson(row.snapshot) ?? null) as Json;
  const outcome = outcomeShape.safeParse(parseJson(row.outcome ?? '')).data;
  return { snapshot, outcome, name: findTargetName(snapshot, outcome) };
}

function describeConsequences(kind: Kind<unknown>, snapshot: Json, request: unknown): Consequences {
  try {
    if (request !== undefined) return kind.consequences(snapshot, request);
  } catch {
    // Facts that this kind did not write.
  }
  return { text: 'The impact was not stored.' };
}

export function findTargetName(snapshot: Json, outcome: OperationOutcome | undefined): string | undefined {
  const known = isObject(snapshot) ? snapshot['name'] : undefined;
  const name = known ?? outcome?.facts?.['name'];
  return typeof name === 'string' ? name : undefined;
}

export function findApprovals(events: readonly EventRow[]): EventRow[] {
  return events.filter(
    ({ what, actor }) => (what === 'approval' || what === 'approved') && actor !== 'system',
  );
}

type Rows = SelectQueryBuilder<Schema, 'operations', OperationRow>;

async function readOperations(find: Find, narrow: (rows: Rows) => Rows): Promise<Operation[]> {
  return readWithLogs(find, await narrow(find.db.selectFrom('operations').selectAll()).execute());
}

async function readWithLogs({ db, kinds }: Find, rows: readonly OperationRow[]): Promise<Operation[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const events = db.selectFrom('operation_events').selectAll().where('operation_id', 'in', ids);
  const eventsOf = Map.groupBy(await events.orderBy('seq').execute(), (event) => event.operation_id);
  return rows.map((row) => readOperation(kinds, row, eventsOf.get(row.id) ?? []));
}

const mostSearched = 500;

/** The targets that the CDN has called by a name; the last told first. */
export async function findNamedTargets(
  { db }: Pick<Find, 'db'>,
  which:
    | { readonly tenant: string; readonly path: string }
    | { readonly tenant: string; readonly kind: string },
): Promise<{ readonly path: string; readonly name: string }[]> {
  const rows = db.selectFrom('operations').selectAll();
  const newest = rows.where((is) => is.and(which)).orderBy('moved_at', 'desc');
  return (await newest.limit(mostSearched).execute()).flatMap((row) => {
    const { snapshot, outcome } = readTold(row);
    const name = findTargetName(null, outcome) ?? findTargetName(snapshot, undefined);
    return name === undefined ? [] : [{ path: row.path, name }];
  });
}

/** Version and fingerprint of the requester's present CDN key; null = they have none. */
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
