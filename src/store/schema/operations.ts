import { createTables, type Maybe, type Moment, type Version } from './columns.ts';

export interface OperationTables {
  operations: OperationsTable;
  operation_events: OperationEvents;
  operation_values: OperationValues;
}

/** Requests that write to the CDN (`src/operations`). Rows stay. */
interface OperationsTable {
  id: string;
  tenant: string;
  kind: string;
  state: string;
  /** Of its newest event. */
  seq: number;
  /** The requester, whose key executes. */
  enterprise_id: string | null;
  team_id: string;
  user_id: string;
  /** Where it was asked for. */
  channel_id: string | null;
  method: string;
  path: string;
  /** Canonical JSON, without the value. */
  body: string | null;
  /** HMAC of the value, under a key that is sealed with it (`operation_values`). */
  value_mac: string | null;
  reason: string | null;
  /** The consequences as the requester saw them, as canonical JSON. */
  snapshot: string;
  policy_version: number;
  approvals_needed: number;
  /** The operation it retries. */
  attempt_of: string | null;
  created_at: Moment;
  expires_at: Moment;
  /** SHA-256 over everything above but state and seq, and its HMAC under the keyring. */
  seal: string;
  key_id: string;
  mac: string;
  moved_by: string;
  moved_at: Moment;
  /** JSON. */
  outcome: string | null;
  /** User ids of those who could approve it when it was proposed, as JSON. */
  approvers: string;
  reminded_at: Maybe;
}

/** Append-only: the log of every operation, each line a move. At most one line in each log is `executing`. */
interface OperationEvents {
  operation_id: string;
  seq: number;
  at: Moment;
  actor: string;
  what: string;
  outcome: string | null;
  /** Of approvals: an HMAC under the keyring. */
  key_id: string | null;
  mac: string | null;
}

/** The values that variables are set to, sealed. */
interface OperationValues {
  tenant: string;
  /** `<user id>/<operation id>`: part of what it is sealed to. */
  owner_id: string;
  operation_id: string;
  sealed: string;
  key_id: string;
  version: Version;
}

export const createOperationTables = createTables(
  `create table operations (
    id text primary key,
    tenant text not null,
    kind text not null,
    state text not null,
    seq integer not null,
    enterprise_id text,
    team_id text not null,
    user_id text not null,
    channel_id text,
    method text not null,
    path text not null,
    body text,
    value_mac text,
    reason text,
    snapshot text not null,
    policy_version integer not null,
    approvals_needed integer not null,
    attempt_of text unique,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    seal text not null,
    key_id text not null,
    mac text not null,
    moved_by text not null,
    moved_at timestamptz not null,
    outcome text,
    approvers text not null,
    reminded_at timestamptz)`,
  'create index operations_person on operations (tenant, user_id, created_at)',
  'create index operations_path on operations (tenant, path) where value_mac is not null',
  `create index operations_moving on operations (state)
    where state in ('proposed', 'approved', 'executing')`,
  `create trigger operations_stay before delete on operations
    for each row execute function refuse_change()`,
  `create table operation_events (
    operation_id text not null references operations,
    seq integer not null,
    at timestamptz not null,
    actor text not null,
    what text not null,
    outcome text,
    key_id text,
    mac text,
    primary key (operation_id, seq))`,
  // Compare-and-set already holds both; the database refuses them again.
  `create unique index operation_events_begun on operation_events (operation_id)
    where what = 'executing'`,
  `create unique index operation_events_approver on operation_events (operation_id, actor)
    where what in ('approval', 'approved')`,
  `create trigger operation_events_append_only before update or delete on operation_events
    for each row execute function refuse_change()`,
  `create trigger operation_events_no_truncate before truncate on operation_events
    for each statement execute function refuse_change()`,
  `create table operation_values (
    tenant text not null,
    owner_id text not null,
    operation_id text not null references operations,
    sealed text not null,
    key_id text not null,
    version bigint not null,
    primary key (tenant, owner_id))`,
);
