import type { ColumnType } from 'kysely';
import type { Moment, Version } from './columns.ts';

/** Every version of what a tenant's admins have said; the highest one holds. Rows are only ever added. */
export interface Policies {
  tenant: string;
  version: number;
  /** The policy as JSON (`auth/policies.ts`). */
  body: string;
  changed_by: string;
  changed_at: Moment;
}

/** Append-only (triggers refuse anything else), each record chained to the one before it in its tenant. */
export interface AuditRecords {
  tenant: string;
  seq: number;
  at: Moment;
  actor: string;
  what: string;
  subject: string | null;
  detail: ColumnType<Record<string, string | number | boolean>, string, never>;
  request_id: string | null;
  prev_hash: string;
  hash: string;
}

/** What was signed and posted of a tenant's chain on a day: one row, taken by one process. */
export interface AuditCheckpoints {
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
export interface AuditSigningKeys {
  tenant: string;
  sealed: string;
  key_id: string;
  made_at: Moment;
  version: Version;
}
