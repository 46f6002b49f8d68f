import type { ColumnType } from 'kysely';
import { createTables, type Moment, type Version } from './columns.ts';

export interface AuditTables {
  policies: Policies;
  audit_records: AuditRecords;
  audit_checkpoints: AuditCheckpoints;
  audit_signing_keys: AuditSigningKeys;
}

/** Every version of what a tenant's admins have said; the highest one holds. Rows are only ever added. */
interface Policies {
  tenant: string;
  version: number;
  /** The policy as JSON (`auth/policies.ts`). */
  body: string;
  changed_by: string;
  changed_at: Moment;
}

/** Append-only (triggers refuse anything else), each record chained to the one before it in its tenant. */
interface AuditRecords {
  tenant: string;
  seq: number;
  at: Moment;
  actor: string;
  event: string;
  subject: string | null;
  detail: ColumnType<Record<string, string | number | boolean>, string, never>;
  request_id: string | null;
  prev_hash: string;
  hash: string;
}

/** What was signed and posted of a tenant's chain on a day: one row, taken by one process. */
interface AuditCheckpoints {
  tenant: string;
  /** `2026-11-21`, in UTC. */
  day: string;
  /** `broken`: the chain did not hold, and that was posted. `unchanged`: nothing was posted. */
  state: 'sending' | 'posted' | 'failed' | 'unknown' | 'unchanged' | 'broken';
  /** Slack's word for why it failed. */
  code: string | null;
  channel: string;
  at: Moment;
  seq: number | null;
  head: string | null;
  kid: string | null;
  signature: string | null;
}

/** The key that signs checkpoints, sealed. `tenant` is `deployment`. */
interface AuditSigningKeys {
  tenant: string;
  sealed: string;
  key_id: string;
  made_at: Moment;
  version: Version;
}

export const createAuditTables = createTables(
  `create function refuse_change() returns trigger language plpgsql as $$
  begin
    raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op)
      using errcode = 'integrity_constraint_violation';
  end $$`,
  `create table policies (
    tenant text not null,
    version integer not null,
    body text not null,
    changed_by text not null,
    changed_at timestamptz not null,
    primary key (tenant, version))`,
  `create table audit_records (
    tenant text not null,
    seq bigint not null,
    at timestamptz not null,
    actor text not null,
    event text not null,
    subject text,
    detail jsonb not null,
    request_id text,
    prev_hash text not null,
    hash text not null,
    primary key (tenant, seq))`,
  `create trigger audit_records_append_only before update or delete on audit_records
    for each row execute function refuse_change()`,
  `create trigger audit_records_no_truncate before truncate on audit_records
    for each statement execute function refuse_change()`,
  `create table audit_checkpoints (
    tenant text not null,
    day text not null,
    state text not null,
    code text,
    channel text not null,
    at timestamptz not null,
    seq bigint,
    head text,
    kid text,
    signature text,
    primary key (tenant, day))`,
  `create trigger audit_checkpoints_stay before delete on audit_checkpoints
    for each row execute function refuse_change()`,
  `create table audit_signing_keys (
    tenant text primary key,
    sealed text not null,
    key_id text not null,
    made_at timestamptz not null,
    version bigint not null)`,
);
