import type { ColumnType, Generated } from 'kysely';

/** The tables as the queries see them; `migrations.ts` makes them. */
export interface Schema {
  linked_keys: LinkedKeys;
  installations: Installations;
  installation_users: InstallationUsers;
  deliveries: Deliveries;
  policies: Policies;
  key_links: KeyLinks;
  sealed_versions: SealedVersions;
  keyring_keys: KeyringKeys;
  keyring_members: KeyringMembers;
  audit_records: AuditRecords;
  audit_checkpoints: AuditCheckpoints;
  audit_signing_keys: AuditSigningKeys;
  operations: OperationsTable;
  operation_events: OperationEvents;
  operation_values: OperationValues;
  exports: Exports;
  digests: Digests;
  digest_runs: DigestRuns;
  digest_books: DigestBooks;
  slack_pace: SlackPace;
}

/** One CDN key a person. `tenant` is the scope that `user_id` is unique in: the Enterprise organisation or the workspace. */
interface LinkedKeys {
  tenant: string;
  user_id: string;
  /** The workspace the key was linked from; within an organisation the key serves all of them. */
  team_id: string;
  /** The key, sealed for this person (`auth/sealing.ts`). */
  sealed: string;
  /** Which key of the keyring sealed it. */
  key_id: string;
  fingerprint: string;
  linked_at: Moment;
  version: Version;
}

/** One row for each workspace or organisation the app was installed in: its bot token and what Slack said with it. */
interface Installations {
  tenant: string;
  sealed: string;
  key_id: string;
  installed_at: Moment;
  version: Version;
}

/** Tokens that people granted for themselves while installing. */
interface InstallationUsers {
  tenant: string;
  user_id: string;
  sealed: string;
  key_id: string;
  installed_at: Moment;
  version: Version;
}

/** Deliveries of Slack that were taken, so that a repeated one is noticed. */
interface Deliveries {
  id: string;
  seen_at: Moment;
}

/** One-time links to the page where a person enters a key; a key is bound to whoever the link was made for. */
interface KeyLinks {
  /** SHA-256 of the token, hexadecimal. The token itself is in the link and nowhere else. */
  token_hash: string;
  tenant: string;
  user_id: string;
  /** Set only where the app is installed for the whole organisation. */
  enterprise_id: string | null;
  team_id: string;
  /** Whom the page names. */
  shown_for: string;
  made_at: Moment;
  expires_at: Moment;
  /** Keys that the CDN refused. */
  refusals: number;
  /** Whoever checks a key with it at this moment, and until when that holds. */
  claim: string | null;
  claimed_until: Maybe;
  /** `used`, `voided` or `refused`; null = open until it expires. */
  ended: string | null;
  /** How often a new link was asked for in its place, and when last. */
  renewals: number;
  renewed_at: Maybe;
}

/**
 * The newest version of each sealed row, authenticated under the keyring: an older copy of a row does not match it.
 * `user_id` is empty where the row belongs to the tenant itself. Stays when the row is destroyed, one higher.
 */
interface SealedVersions {
  tenant: string;
  user_id: string;
  kind: string;
  version: number;
  key_id: string;
  mac: string;
}

/** A value for each key id that only the same key gives: another key under a known id is noticed at start. */
interface KeyringKeys {
  key_id: string;
  check_value: string;
  first_seen: Generated<Date>;
}

/** Which keys each running process knows, refreshed while it runs. */
interface KeyringMembers {
  id: string;
  /** For people: the host and the process number. */
  label: string;
  /** Separated by commas, the first is its primary. */
  key_ids: string;
  primary_id: string;
  seen_at: Generated<Date>;
}

/** Append-only (triggers refuse anything else), each record chained to the one before it in its tenant. */
interface AuditRecords {
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

/** One export of event logs, from the form until its files are deleted. Moved by compare-and-set only. */
interface Exports {
  id: string;
  tenant: string;
  /** Set only where the app is installed for the whole organisation. */
  enterprise_id: string | null;
  team_id: string;
  user_id: string;
  /** Where it goes; null = the person's direct messages. */
  channel: string | null;
  /** What was asked for, as JSON (`reports/event-export.ts`). */
  request: string | null;
  /** `asked`, `waiting`, `running`, `sharing`, `done`, `failed`, `cancelled`, `unknown`. */
  state: string;
  /** The attempt that works on it, and until when it is taken to be alive; while it waits: until when. */
  run: string | null;
  lease_until: Maybe;
  attempt: number;
  /** Whoever wants it ended: a user id or `system`. */
  cancelled_by: string | null;
  /** The message that tells how far it is. */
  message_channel: string | null;
  message_ts: string | null;
  row_count: number;
  byte_count: number;
  /** The ids of the files in Slack, as JSON. */
  files: string;
  asked_at: Moment;
  ended_at: Maybe;
  /** How it ended, as JSON (`jobs/export-endings.ts`); forgotten with what was asked for. */
  ending: string | null;
  /** When people were told of it. */
  told_at: Maybe;
  files_deleted_at: Maybe;
}

/** Part of what a row is sealed to. 0 = sealed before there were versions. */
type Version = ColumnType<number, number | undefined, number>;
/** Every version of what a tenant's admins have said; the highest one holds. Rows are only ever added. */
interface Policies {
  tenant: string;
  version: number;
  /** The policy as JSON (`auth/policies.ts`). */
  body: string;
  changed_by: string;
  changed_at: Moment;
}

/** What was asked for, approved and done (`auth/operations.ts`). Rows stay. */
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

/** Posts on a schedule. What is in `body` is read and written by `jobs/digest-book.ts`. */
interface Digests {
  id: string;
  tenant: string;
  enterprise_id: string | null;
  team_id: string;
  /** With whose key it runs. */
  owner: string;
  channel: string;
  /** What it tells of and when, as JSON. */
  body: string;
  /** One higher with every change that people make. */
  revision: number;
  /** Why it does not run; null = it runs. */
  paused: string | null;
  /** Who paused it; null = the bot. */
  paused_by: string | null;
  paused_at: Maybe;
  /** How far people were told: see `Told` in `digest-notices.ts`. `asked`: their owner is told of all (`digest-returns.ts`); null = nobody needs to be. */
  paused_told: string | null;
  /** The first moment that no run is planned for yet. */
  next_due: Maybe;
  /** Runs that failed one after the other. */
  failures: number;
  made_at: Moment;
  /** Until it is purged, the deletion can be undone. */
  deleted_at: Maybe;
}

/**
 * Every run of a digest, once for each moment it was due. `due` → `collecting` → `ready` → `sending` → `sent`; or
 * `quiet`, `skipped`, `failed`, `unknown`, `cancelled`. Moved only by whoever holds `claim`.
 */
interface DigestRuns {
  digest_id: string;
  due: Moment;
  state: string;
  /** Not before. */
  run_at: Moment;
  /** Who asked for it; null = the schedule. */
  by_hand: string | null;
  /** How many runs before it were skipped while no process ran. */
  missed: number;
  claim: string | null;
  claimed_at: Maybe;
  attempts: number;
  /** How often Slack was asked whether a post had arrived. */
  lookups: number;
  /** What is sent: `digest`, `skipped`, `failed`. */
  outcome: string | null;
  /** The messages, as JSON, while they are being sent: what is sent after a crash is what was stored before it. */
  parts: string | null;
  parts_sent: number;
  /** Where the first of them is. */
  sent_to: string | null;
  ts: string | null;
  /** What it found, as JSON, for later runs to compare with. */
  figures: string | null;
  reason: string | null;
}

/** What a digest remembers of what it last said, and what it will of the run that is under way. JSON, up to some MB. */
interface DigestBooks {
  digest_id: string;
  /** One higher each time that `body` is replaced. */
  revision: number;
  body: string | null;
  /** Takes the place of `body` once the run of that moment has posted, if `revision` is still this one. */
  next_body: string | null;
  next_due: Maybe;
  next_base: number | null;
}

/** When the next call may be made, for each channel and method of a workspace: one table for all processes. */
interface SlackPace {
  tenant: string;
  lane: string;
  free_at: Moment;
}

type Moment = ColumnType<Date, Date, Date>;
type Maybe = ColumnType<Date | null, Date | null | undefined, Date | null>;
