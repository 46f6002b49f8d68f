import type { Maybe, Moment, Version } from './columns.ts';

/** What was asked for, approved and done (`auth/operations.ts`). Rows stay. */
export interface OperationsTable {
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
  /** What was shown, as canonical JSON. */
  snapshot: string;
  policy_version: number;
  approvals_needed: number;
  /** The operation it tries again. */
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
  /** Where its messages are, as JSON. */
  messages: string;
  reminded_at: Maybe;
}

/** Append-only: the log of every operation, each line a move. At most one line in each log is `executing`. */
export interface OperationEvents {
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
export interface OperationValues {
  tenant: string;
  /** `<user id>/<operation id>`: part of what it is sealed to. */
  owner_id: string;
  operation_id: string;
  sealed: string;
  key_id: string;
  version: Version;
}
