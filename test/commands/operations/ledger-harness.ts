import { sql } from 'kysely';
import { type AuditRecord, createAudit } from '../../../src/auth/audit/audit.ts';
import type { Person } from '../../../src/auth/identity.ts';
import type { Keyring } from '../../../src/auth/keyring/keyring.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import { type Actor, initialPolicy, type Policy } from '../../../src/auth/policy/policy.ts';
import { approve } from '../../../src/commands/operations/approvals.ts';
import { begin, executeOperationJob, settle } from '../../../src/commands/operations/execute.ts';
import { indexKinds, type Settlement } from '../../../src/commands/operations/kinds/kind.ts';
import { operationKinds } from '../../../src/commands/operations/kinds/list.ts';
import { variableUpdate } from '../../../src/commands/operations/kinds/variable.ts';
import { type VolumeRequest, volumeDeletion } from '../../../src/commands/operations/kinds/volume.ts';
import {
  type Answer,
  type DecisionContext,
  findOperation,
  type Operation,
  type OperationState,
  type Proposal,
} from '../../../src/commands/operations/model.ts';
import { propose } from '../../../src/commands/operations/propose.ts';
import type { Ledger } from '../../../src/commands/operations/transitions.ts';
import { createOutbox } from '../../../src/outbox/outbox.ts';
import type { Secret } from '../../../src/secrets/secret.ts';
import type { Database } from '../../../src/store/database.ts';
import type { Enqueue } from '../../../src/store/queue.ts';
import { createKeyring } from '../../auth/keyring/keyrings.ts';

export const acme = 'T0ACME000';
export const person = (userId: string): Person => ({ teamId: acme, userId });
export const olivia = person('U0OLIVIA0');
export const anna = person('U0ANNA000');
export const ben = person('U0BEN0000');
export const carl = person('U0CARL000');

/** Olivia operates, so does Anna; Anna, Ben and Carl approve. */
export const policy: Policy = {
  ...initialPolicy,
  version: 7,
  operators: [olivia.userId, anna.userId],
  approvers: [anna.userId, ben.userId, carl.userId],
};

export const actor = ({ userId }: Person, more: Partial<Actor> = {}): Actor => ({
  userId,
  foreign: false,
  linked: true,
  admin: false,
  groups: [],
  ...more,
});

export const makeContext = (
  clicker: Person,
  operation: Pick<Operation, 'requester' | 'approvals'>,
  rules: Policy = policy,
): DecisionContext => ({
  policy: rules,
  requester: actor(operation.requester),
  approvers: operation.approvals.map(({ by }) => actor(person(by))),
  clicker: actor(clicker),
});

/** The requests that tests make, each by the name of its kind. */
export type TestRequest =
  | ({ readonly kind: 'volume-delete' } & VolumeRequest)
  | {
      readonly kind: 'variable-update';
      readonly scriptId: string;
      readonly variableId: string;
      readonly required?: boolean;
      readonly value?: Secret;
    };

/** The parts of a proposal that say what is requested. */
export function toRequested(asked: TestRequest): Pick<Proposal, 'kind' | 'request' | 'value'> {
  if (asked.kind === 'volume-delete') {
    const { kind: _, ...request } = asked;
    return { kind: volumeDeletion, request };
  }
  const { kind: _, required, value, ...ids } = asked;
  return { kind: variableUpdate, request: { ...ids, required, setsValue: value !== undefined }, value };
}

export const deletion: TestRequest = { kind: 'volume-delete', appId: 'app-1', volumeId: 'vol 1' };

export const makeProposal = (
  request: TestRequest = deletion,
  requester: Person = olivia,
  rules: Policy = policy,
): Proposal => ({
  requester,
  channelId: 'C0OPS0000',
  ...toRequested(request),
  reason: 'no longer needed',
  snapshot: { zones: [{ id: 4711, hostnames: ['shop.example.com'] }], sizeBytes: 1_000, cost: null },
  policy: rules,
  approvers: [],
});

export type LedgerHarness = Awaited<ReturnType<typeof createLedgerHarness>>;

/** A ledger on a database, with a clock that is moved by hand. */
export async function createLedgerHarness(database: Database) {
  let time = Date.parse('2026-11-21T08:00:00.123Z');
  const now = (): Date => new Date(time);
  const keyring = await createKeyring();
  const enqueued: string[] = [];
  const enqueue: Enqueue = async (job, data, options) => {
    if (options?.in) await sql`select 1`.execute(options.in);
    if (job.name === executeOperationJob.name) enqueued.push((data as { id: string }).id);
  };
  /** As a process that starts now sees it. */
  const openReplica = (on = database, keys: Keyring = keyring): Ledger => ({
    db: on.db,
    sealer: createSealer(keys),
    audit: createAudit({ db: on.db, now }),
    now,
    enqueue,
    outbox: createOutbox({ enqueue, now }),
    kinds: indexKinds(operationKinds),
  });
  for (const tenant of [acme, 'E0CORP000', 'T0BETA000']) await storePolicy(database.db, tenant, policy);
  return {
    ledger: openReplica(),
    database,
    /** Ids of operations whose job was enqueued. */
    enqueued,
    audit: async (): Promise<AuditRecord[]> =>
      (await createAudit({ db: database.db, now }).recent(acme, 10_000)).toReversed(),
    advance: (minutes: number) => void (time += minutes * 60_000),
    openReplica,
    /** Writes past the bot, as whoever owns the tables can. */
    tamper: async (statement: string): Promise<void> => {
      await database.db.transaction().execute(async (trx) => {
        for (const table of ['operations', 'operation_events'])
          await sql`alter table ${sql.table(table)} disable trigger user`.execute(trx);
        await sql.raw(statement).execute(trx);
        for (const table of ['operations', 'operation_events'])
          await sql`alter table ${sql.table(table)} enable trigger user`.execute(trx);
      });
    },
  };
}

/** Stores the settings of a tenant, unless it has this version. */
export async function storePolicy(
  db: Ledger['db'],
  tenant: string,
  { version, ...body }: Policy,
): Promise<void> {
  const saved = {
    tenant,
    version,
    body: JSON.stringify(body),
    changed_by: carl.userId,
    changed_at: new Date(0),
  };
  await db
    .insertInto('policies')
    .values(saved)
    .onConflict((on) => on.doNothing())
    .execute();
}

/** An operation that is there. */
export async function findNow(ledger: Ledger, id: string, tenant = acme): Promise<Operation> {
  const operation = await findOperation(ledger, tenant, id);
  if (!operation) throw new Error(`There is no operation ${id}.`);
  return operation;
}

/** Approves with the facts as they are. */
export async function approveNow(ledger: Ledger, id: string, by: Person, rules: Policy = policy) {
  const operation = await findNow(ledger, id);
  await storePolicy(ledger.db, acme, rules);
  return approve(ledger, id, by, makeContext(by, operation, rules));
}

/** Begins with the facts as they are. */
export async function beginNow(ledger: Ledger, id: string, rules: Policy = policy) {
  const operation = await findNow(ledger, id);
  await storePolicy(ledger.db, acme, rules);
  return begin(ledger, id, makeContext(olivia, operation, rules));
}

/** `already denied`, `void key-gone`, `not-allowed foreign`: an answer, with why or with the state after it. */
export function brief(
  answer: Answer | { readonly kind: 'begun' | 'settled'; readonly operation: Operation },
) {
  if (answer.kind === 'not-found') return answer.kind;
  if (answer.kind === 'not-allowed') return `${answer.kind} ${answer.decision.reason}`;
  return `${answer.kind} ${'why' in answer ? answer.why : answer.operation.state}`;
}

/** A ledger on a database, and what people and jobs do with it. */
export async function startLedger(database: Database) {
  const harness = await createLedgerHarness(database);
  const { ledger } = harness;
  const ask = async (...proposal: Parameters<typeof makeProposal>) =>
    (await propose(ledger, makeProposal(...proposal))).id;
  const approveBy = async (id: string, by: Person, rules = policy) =>
    brief(await approveNow(ledger, id, by, rules));
  const beginBy = async (id: string, rules = policy) => brief(await beginNow(ledger, id, rules));
  return {
    ...harness,
    ask,
    approve: approveBy,
    begin: beginBy,
    find: (id: string) => findNow(ledger, id),
    settle: async (id: string, state: Settlement['state'], word: string = state) =>
      brief(await settle(ledger, id, { state, outcome: { word } })),
    /** One that is executing. */
    run: async (...proposal: Parameters<typeof makeProposal>) => {
      const id = await ask(...proposal);
      const [, , rules] = proposal;
      if ((await findNow(ledger, id)).state === 'proposed') await approveBy(id, ben, rules);
      await beginBy(id, rules);
      return id;
    },
  };
}

export interface OperationEvent {
  readonly seq: number;
  readonly at: Date;
  readonly actor: string;
  readonly what: OperationState | 'approval';
  readonly outcome: unknown;
}

/** The log of an operation, oldest first. */
export async function findEvents({ db }: Ledger, tenant: string, id: string): Promise<OperationEvent[]> {
  const events = await db
    .selectFrom('operation_events')
    .innerJoin('operations', 'operations.id', 'operation_events.operation_id')
    .selectAll('operation_events')
    .where('operations.id', '=', id)
    .where('operations.tenant', '=', tenant)
    .orderBy('operation_events.seq')
    .execute();
  return events.map(({ seq, at, actor, what, outcome }) => ({
    seq,
    at,
    actor,
    what: what as OperationEvent['what'],
    outcome: outcome === null ? undefined : JSON.parse(outcome),
  }));
}
