import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { defineTables } from './define-tables.ts';

/** Operations, exports and digests. */
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
    /** Posts on a schedule. */
    digests: {
      id: 'text primary key',
      tenant: 'text not null',
      enterprise_id: 'text',
      team_id: 'text not null',
      /** It runs with this person's key. */
      owner: 'text not null',
      channel: 'text not null',
      /** Content and schedule, as JSON: see `orderColumns`. */
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
      /** The first moment that no run is stored for yet. */
      next_due: 'timestamptz',
      /** Consecutive runs that failed. */
      failures: 'integer not null',
      created_at: 'timestamptz not null',
      /** Until it is purged, the deletion can be undone. */
      deleted_at: 'timestamptz',
    },
    /** Every run of a digest, once for each moment it was due. */
    digest_runs: {
      digest_id: 'text not null references digests on delete cascade',
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
    digest_baselines: {
      digest_id: 'text primary key references digests on delete cascade',
      /** One higher each time that `body` is replaced. */
      revision: 'integer not null',
      body: 'text',
      /** Replaces `body` once the run of that moment has posted, if `revision` is still this one. */
      next_body: 'text',
      next_due: 'timestamptz',
      next_base: 'integer',
    },
  },
  [
    'create index operations_person on operations (tenant, user_id, created_at)',
    'create index operations_path on operations (tenant, path)',
    `create index operations_moving on operations (state) where state in ('proposed', 'approved', 'executing')`,
    `create trigger operations_stay before delete on operations
      for each row execute function refuse_change()`,
    'alter table operation_events add primary key (operation_id, seq)',
    // Compare-and-set already holds both; the database refuses them again.
    `create unique index operation_events_begun on operation_events (operation_id) where what = 'executing'`,
    `create unique index operation_events_approver on operation_events (operation_id, actor)
      where what in ('approval', 'approved')`,
    `create trigger operation_events_append_only before update or delete on operation_events
      for each row execute function refuse_change()`,
    `create trigger operation_events_no_truncate before truncate on operation_events
      for each statement execute function refuse_change()`,
    'alter table operation_values add primary key (tenant, owner_id)',
    'create index exports_person on exports (tenant, user_id, asked_at)',
    'create index exports_unfinished on exports (state) where ended_at is null',
    'create index digests_tenant on digests (tenant)',
    'create index digests_next_due on digests (next_due) where paused is null and deleted_at is null',
    'alter table digest_runs add primary key (digest_id, due)',
    `create index digest_runs_open on digest_runs (run_at) where state in ('due', 'collecting')`,
  ],
);

/** Watches and their incidents (`src/watches`). */
export const watchTables = defineTables(
  {
    /** What looks at an account and speaks when something begins, changes or ends. First the columns of `digests`. */
    watches: {
      id: 'text primary key',
      tenant: 'text not null',
      enterprise_id: 'text',
      team_id: 'text not null',
      /** It looks with this person's key. */
      owner: 'text not null',
      /** A channel, or its owner's user id. */
      channel: 'text not null',
      /** Its subject, as JSON: see `WatchSubject`. */
      body: 'text not null',
      revision: 'integer not null',
      paused: 'text',
      paused_by: 'text',
      paused_at: 'timestamptz',
      pause_notice: 'text',
      /** The next look. */
      next_due: 'timestamptz',
      failures: 'integer not null',
      created_at: 'timestamptz not null',
      deleted_at: 'timestamptz',
      /** Successful looks, and the newest of them. */
      looks: 'integer not null default 0',
      looked_at: 'timestamptz',
      /** The newest looks and what its condition remembers, as JSON: see `WatchState`. */
      state: 'text',
      snoozed_until: 'timestamptz',
      snoozed_by: 'text',
      /** When its last sign of life was posted, or the first may be. */
      alive_at: 'timestamptz',
    },
    /** From when something was wrong until it no longer was; also a time in which a watch could not look. */
    watch_incidents: {
      id: 'text primary key',
      watch_id: 'text not null references watches on delete cascade',
      /** `wrong` or `blind`. */
      kind: 'text not null',
      opened_at: 'timestamptz not null',
      closed_at: 'timestamptz',
      /** Its figures, as JSON: see `IncidentFigures`. */
      figures: 'text not null',
      /** Messages put into its thread. */
      replies: 'integer not null default 0',
      /** False until it is posted: it began while the watch was snoozed. */
      told: 'boolean not null',
      acknowledged_by: 'text',
      acknowledged_at: 'timestamptz',
    },
  },
  [
    'create index watches_tenant on watches (tenant)',
    'create index watches_owner_due on watches (tenant, owner, next_due) where paused is null and deleted_at is null',
    'create index watches_next_due on watches (next_due) where paused is null and deleted_at is null',
    'create index watch_incidents_watch on watch_incidents (watch_id, opened_at)',
    // One of each kind is open at a time.
    'create unique index watch_incidents_open on watch_incidents (watch_id, kind) where closed_at is null',
  ],
);

/** The outbox id of the newest message of an incident. Null in rows of before: `told` says whether there is one. */
export const incidentMessages = defineTables({}, ['alter table watch_incidents add column message text']);

const reportColumns = {
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
} as const;

const movedColumns = `tenant, enterprise_id, team_id, owner, channel, body, revision, paused, paused_by, paused_at,
  pause_notice, next_due, failures, created_at, deleted_at`;

/**
 * Digests and watches become one table. Those of digests are renamed in place, so that runs and baselines keep their keys, and
 * alerts move in. Ids are short and drawn at random: an alert whose id a digest has gets another one.
 */
export const reportTables = {
  tables: reportColumns,
  replaces: ['digests', 'digest_runs', 'digest_baselines', 'watches', 'watch_incidents'],
  async up(db: Parameters<Migration['up']>[0]): Promise<void> {
    const { report_incidents: incidents } = reportColumns;
    const columns = Object.entries(incidents).map(([name, definition]) => `${name} ${definition}`);
    const statements = [
      'alter table digests rename to reports',
      `alter table reports add column kind text not null default 'digest', add column state text,
        add column checked_at timestamptz, add column snoozed_until timestamptz, add column snoozed_by text,
        add column heartbeat_at timestamptz`,
      'alter table reports alter column kind drop default',
      'alter table digest_runs rename to report_runs',
      'alter table report_runs rename column digest_id to report_id',
      'alter table digest_baselines rename to report_baselines',
      'alter table report_baselines rename column digest_id to report_id',
      'alter index digests_tenant rename to reports_tenant',
      'alter index digests_next_due rename to reports_next_due',
      'alter index digests_deleted_at rename to reports_deleted_at',
      'alter index digest_runs_open rename to report_runs_open',
      'alter index digest_runs_due rename to report_runs_due',
      `create temporary table moved on commit drop as select id as old,
        case when exists (select from reports r where r.id = w.id) then substr(md5(w.id || w.tenant), 1, 6) else id end as new
        from watches w`,
      `insert into reports (id, ${movedColumns}, kind, state, checked_at, snoozed_until, snoozed_by, heartbeat_at)
        select new, ${movedColumns}, 'alert', state, looked_at, snoozed_until, snoozed_by, alive_at
        from watches join moved on old = id`,
      `create table report_incidents (${columns.join(', ')})`,
      `insert into report_incidents select i.id, new, case kind when 'wrong' then 'firing' else 'unreadable' end, opened_at,
        closed_at, figures, replies, coalesce(message, case when told then 'watch:' || i.id end), acknowledged_by,
        acknowledged_at from watch_incidents i join moved on old = watch_id`,
      'drop table watch_incidents',
      'drop table watches',
      'drop table moved',
      'create index report_incidents_report on report_incidents (report_id, opened_at)',
      'create index report_incidents_closed_at on report_incidents (closed_at)',
      // One of each kind is open at a time.
      'create unique index report_incidents_open on report_incidents (report_id, kind) where closed_at is null',
      'create index reports_owner_due on reports (tenant, owner, next_due) where paused is null and deleted_at is null',
    ];
    await sql
      .raw(`do $migration$ begin\n${statements.map((one) => `${one};`).join('\n')}\nend $migration$`)
      .execute(db);
  },
};

/** For readiness and metrics. */
export const healthTables = defineTables({}, [
  // A value sealed under the key, which a process opens to show that it can.
  'alter table keyring_keys add column canary text',
  // Beside the operations that move, those that a person has to look at: the rest of the table only grows.
  `create index operations_open on operations (state)
    where state in ('proposed', 'approved', 'executing', 'unknown')`,
]);

/** Indexes for what runs for every message, and for the retention of tables that grow with time. */
export const scaleIndexes = defineTables({}, [
  // Those that wait for their moment: a pause that Slack asks for voids them.
  'create index outbox_slots on outbox (tenant) where slot is not null',
  'create index digests_deleted_at on digests (deleted_at) where deleted_at is not null',
  'create index watches_deleted_at on watches (deleted_at) where deleted_at is not null',
  'create index digest_runs_due on digest_runs (due)',
  'create index watch_incidents_closed_at on watch_incidents (closed_at)',
  'create index step_runs_begun_at on step_runs (begun_at)',
  'create index exports_ended_at on exports (ended_at)',
  'create index exports_with_files on exports (tenant) where files_deleted_at is null',
]);

/** How often a process died while it made an export. */
export const exportDeaths = defineTables({}, [
  'alter table exports add column deaths integer not null default 0',
]);
