import { defineTables } from './define-tables.ts';

/** Operations, exports and reports. */
export const engineTables = defineTables(
  {
    /** Requests that write to the CDN (`src/operations`). Rows stay. */
    operations: {
      id: 'text primary key',
      tenant: 'text not null',
      kind: 'text not null',
      state: 'text not null',
      /** Of its newest event. */
      seq: 'integer not null',
      /** The requester, whose key executes. */
      enterprise_id: 'text',
      team_id: 'text not null',
      user_id: 'text not null',
      channel_id: 'text',
      method: 'text not null',
      path: 'text not null',
      /** Canonical JSON, without the value. */
      body: 'text',
      /** HMAC of the value, under a key that is sealed with it (`operation_values`). */
      value_mac: 'text',
      /** Version and fingerprint of the requester's CDN key when it was asked for. */
      cdn_key: 'text',
      reason: 'text',
      /** The consequences as the requester saw them, as canonical JSON. */
      snapshot: 'text not null',
      policy_version: 'integer not null',
      approvals_needed: 'integer not null',
      /** The operation it retries. */
      attempt_of: 'text unique',
      /** What asked for it, if it was not the person: `assistant`. */
      via: 'text',
      created_at: 'timestamptz not null',
      expires_at: 'timestamptz not null',
      /** SHA-256 over everything above but state and seq, and its HMAC under the keyring. */
      seal: 'text not null',
      key_id: 'text not null',
      mac: 'text not null',
      moved_by: 'text not null',
      moved_at: 'timestamptz not null',
      /** JSON. */
      outcome: 'text',
      /** User ids of those who could approve it when it was proposed, as JSON. */
      approvers: 'text not null',
      reminded_at: 'timestamptz',
    },
    /** Append-only: the log of every operation, each line a move. At most one line in each log is `executing`. */
    operation_events: {
      operation_id: 'text not null references operations',
      seq: 'integer not null',
      at: 'timestamptz not null',
      actor: 'text not null',
      what: 'text not null',
      outcome: 'text',
      /** Of approvals: an HMAC under the keyring. */
      key_id: 'text',
      mac: 'text',
    },
    /** The values that variables are set to, sealed. */
    operation_values: {
      tenant: 'text not null',
      /** `<user id>/<operation id>`: part of what it is sealed to. */
      owner_id: 'text not null',
      operation_id: 'text not null references operations',
      sealed: 'text not null',
      key_id: 'text not null',
      version: 'bigint not null',
    },
    /** One export of event logs, from the form until its files are deleted. Moved by compare-and-set only. */
    exports: {
      id: 'text primary key',
      tenant: 'text not null',
      enterprise_id: 'text',
      team_id: 'text not null',
      user_id: 'text not null',
      /** Destination channel; null = the person's direct messages. */
      channel: 'text',
      /** The requested export, as JSON. */
      request: 'text',
      /** `asked`, `waiting`, `running`, `sharing`, `done`, `failed`, `cancelled`, `unknown`. */
      state: 'text not null',
      /** The attempt that has it: a fencing token. */
      run: 'text',
      attempt: 'integer not null',
      row_count: 'bigint not null',
      byte_count: 'bigint not null',
      /** The ids of the files in Slack, as JSON. */
      files: 'text not null',
      asked_at: 'timestamptz not null',
      ended_at: 'timestamptz',
      /** How it ended, as JSON; forgotten with what was asked for. */
      ending: 'text',
      files_deleted_at: 'timestamptz',
    },
    /** One run of a step in somebody's workflow, from its delivery on. Rows are deleted after a while. */
    step_runs: {
      /** Slack's `function_execution_id`. */
      id: 'text primary key',
      tenant: 'text not null',
      enterprise_id: 'text',
      team_id: 'text not null',
      begun_at: 'timestamptz not null',
      /** The operation that it asked for, with whose end it ends. */
      operation_id: 'text unique references operations',
      /** A run that has ended, or is ending, without an operation cannot propose one any more. */
      closed_at: 'timestamptz',
    },
    /** Digests and alerts: what reads an account on a schedule, with its owner's key, and posts. */
    reports: {
      id: 'text primary key',
      tenant: 'text not null',
      enterprise_id: 'text',
      team_id: 'text not null',
      /** It runs with this person's key. */
      owner: 'text not null',
      /** A channel; of an alert also its owner's user id, for their conversation with the bot. */
      channel: 'text not null',
      /** What its form ordered, as JSON: see `DigestOrder` and `AlertSubject`. */
      body: 'text not null',
      /** One higher with every change that people make. */
      revision: 'integer not null',
      /** A `PauseReason`; null = it runs. */
      paused: 'text',
      /** Null = the bot. */
      paused_by: 'text',
      paused_at: 'timestamptz',
      /** A `NoticeState`: how far people were told of the pause. */
      pause_notice: 'text',
      /** The next check; of a digest the first moment that no run is stored for yet. */
      next_due: 'timestamptz',
      /** Consecutive runs that failed. */
      failures: 'integer not null',
      created_at: 'timestamptz not null',
      /** Until it is purged, the deletion can be undone. */
      deleted_at: 'timestamptz',
      /** `digest` or `alert`. */
      kind: 'text not null',
      /** Of an alert: the newest checks and what its condition remembers, as JSON: see `AlertState`. */
      state: 'text',
      /** The newest successful check. */
      checked_at: 'timestamptz',
      snoozed_until: 'timestamptz',
      snoozed_by: 'text',
      /** When its last heartbeat was posted, or the first may be. */
      heartbeat_at: 'timestamptz',
    },
    /** Every run of a digest, once for each moment it was due. */
    report_runs: {
      report_id: 'text not null references reports on delete cascade',
      due: 'timestamptz not null',
      /** A `RunState`. */
      state: 'text not null',
      /** Not before. */
      run_at: 'timestamptz not null',
      /** The person who started it; null = the schedule. */
      by_hand: 'text',
      /** Runs before it that were skipped while no process ran. */
      missed: 'integer not null',
      /** Attempts at collecting, and failed requests of them. It only rises: an overtaken attempt changes nothing. */
      attempts: 'integer not null',
      /** Its findings, as JSON, for later runs to compare with. */
      figures: 'text',
    },
    /** The baseline of a digest, and the pending one of the run that is under way. JSON, up to some MB. */
    report_baselines: {
      report_id: 'text primary key references reports on delete cascade',
      /** One higher each time that `body` is replaced. */
      revision: 'integer not null',
      body: 'text',
      /** Replaces `body` once the run of that moment has posted, if `revision` is still this one. */
      next_body: 'text',
      next_due: 'timestamptz',
      next_base: 'integer',
    },
    /** From when an alert fired until it was resolved; also a time in which it could not check. */
    report_incidents: {
      id: 'text primary key',
      report_id: 'text not null references reports on delete cascade',
      /** `firing` or `unreadable`. */
      kind: 'text not null',
      opened_at: 'timestamptz not null',
      closed_at: 'timestamptz',
      /** JSON: see `IncidentFigures`. */
      figures: 'text not null',
      /** Messages put into its thread. */
      replies: 'integer not null default 0',
      /** The outbox id of its newest message; null = none yet: it began in a snooze. */
      message: 'text',
      acknowledged_by: 'text',
      acknowledged_at: 'timestamptz',
    },
  },
  {
    operation_events: 'operation_id, seq',
    operation_values: 'tenant, owner_id',
    report_runs: 'report_id, due',
  },
  [
    'create index operations_person on operations (tenant, user_id, created_at)',
    'create index operations_path on operations (tenant, path)',
    `create index operations_moving on operations (state) where state in ('proposed', 'approved', 'executing')`,
    // With those that a person has to look at: the rest of the table only grows.
    `create index operations_open on operations (state)
      where state in ('proposed', 'approved', 'executing', 'unknown')`,
    `create trigger operations_stay before delete on operations
      for each row execute function refuse_change()`,
    // Compare-and-set already holds both; the database refuses them again.
    `create unique index operation_events_begun on operation_events (operation_id) where what = 'executing'`,
    `create unique index operation_events_approver on operation_events (operation_id, actor)
      where what in ('approval', 'approved')`,
    `create trigger operation_events_append_only before update or delete on operation_events
      for each row execute function refuse_change()`,
    `create trigger operation_events_no_truncate before truncate on operation_events
      for each statement execute function refuse_change()`,
    'create index exports_person on exports (tenant, user_id, asked_at)',
    'create index exports_unfinished on exports (state) where ended_at is null',
    'create index exports_ended_at on exports (ended_at)',
    'create index exports_with_files on exports (tenant) where files_deleted_at is null',
    'create index step_runs_begun_at on step_runs (begun_at)',
    'create index reports_tenant on reports (tenant)',
    'create index reports_next_due on reports (next_due) where paused is null and deleted_at is null',
    'create index reports_owner_due on reports (tenant, owner, next_due) where paused is null and deleted_at is null',
    'create index reports_deleted_at on reports (deleted_at) where deleted_at is not null',
    `create index report_runs_open on report_runs (run_at) where state in ('due', 'collecting')`,
    'create index report_runs_due on report_runs (due)',
    'create index report_incidents_report on report_incidents (report_id, opened_at)',
    'create index report_incidents_closed_at on report_incidents (closed_at)',
    // One of each kind is open at a time.
    'create unique index report_incidents_open on report_incidents (report_id, kind) where closed_at is null',
  ],
);
