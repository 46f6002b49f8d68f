// Every table of the bot, parents before children, each column as its SQL. `sealed`: encrypted under the key `key_id`.

/** Where something belongs: `tenant` is the organisation or the workspace that ids of people are unique in. */
const place = { tenant: 'text not null', enterprise_id: 'text', team_id: 'text not null' } as const;
const person = { tenant: 'text not null', user_id: 'text not null' } as const;

export const tables = {
  /** Every version of a tenant's settings; the highest one holds. Rows are only ever added. */
  policies: {
    tenant: 'text not null',
    version: 'integer not null',
    body: 'text not null',
    changed_by: 'text not null',
    changed_at: 'timestamptz not null',
  },
  /** Append-only, each record chained to the one before it in its tenant. */
  audit_records: {
    tenant: 'text not null',
    seq: 'bigint not null',
    at: 'timestamptz not null',
    actor: 'text not null',
    event: 'text not null',
    subject: 'text',
    detail: 'jsonb not null',
    request_id: 'text',
    prev_hash: 'text not null',
    hash: 'text not null',
  },
  /** One CDN key a person. `tenant` is the scope that `user_id` is unique in: the organisation or the workspace. */
  linked_keys: {
    ...person,
    /** The workspace the key was linked from; within an organisation the key serves all of them. */
    team_id: 'text not null',
    sealed: 'text not null',
    key_id: 'text not null',
    fingerprint: 'text not null',
    linked_at: 'timestamptz not null',
    version: 'bigint not null',
  },
  /** One row for each workspace or organisation the app was installed in: its bot token and what Slack said with it. */
  installations: {
    tenant: 'text primary key',
    sealed: 'text not null',
    key_id: 'text not null',
    installed_at: 'timestamptz not null',
    version: 'bigint not null',
  },
  /** Tokens for clients other than Slack. */
  client_tokens: {
    /** SHA-256, hexadecimal. The token itself is shown once and kept nowhere. */
    token_hash: 'text primary key',
    ...person,
    enterprise_id: 'text',
    team_id: 'text not null',
    /** Of the linked key with which it was made: it ends with it. */
    key_version: 'bigint not null',
    name: 'text not null',
    made_at: 'timestamptz not null',
    expires_at: 'timestamptz not null',
  },
  /** One-time links to the page where a person enters a key; a key is bound to the person the link was made for. */
  key_links: {
    /** SHA-256 of the token, hexadecimal. The token itself is in the link and nowhere else. */
    token_hash: 'text primary key',
    ...person,
    /** Set only where the app is installed for the whole organisation. */
    enterprise_id: 'text',
    team_id: 'text not null',
    shown_for: 'text not null',
    made_at: 'timestamptz not null',
    expires_at: 'timestamptz not null',
    refusals: 'integer not null',
    /** The request that checks a key with it, and until when it may. */
    claim: 'text',
    claimed_until: 'timestamptz',
    /** `used`, `voided` or `refused`; null = open until it expires. */
    ended: 'text',
    /** How often a new link was asked for in its place, and when last. */
    renewals: 'integer not null',
    renewed_at: 'timestamptz',
  },
  /**
   * The newest version of each sealed row: an older copy of a row does not match it.
   * `user_id` is empty where the row belongs to the tenant itself. Stays when the row is destroyed, one higher.
   */
  sealed_versions: {
    ...person,
    kind: 'text not null',
    version: 'bigint not null',
  },
  /** One name for an id in each tenant. */
  names: {
    tenant: 'text not null',
    kind: 'text not null',
    id: 'text not null',
    name: 'text not null',
    named_by: 'text not null',
    named_at: 'timestamptz not null',
  },
  /** The ids that a person looked at last, a few of each kind. */
  recent_ids: {
    ...person,
    kind: 'text not null',
    id: 'text not null',
    used_at: 'timestamptz not null',
  },
  /** The zone that `/cdn errors` means in a channel. */
  channel_zones: {
    tenant: 'text not null',
    channel: 'text not null',
    zone_id: 'text not null',
    zone_name: 'text not null',
    set_by: 'text not null',
    set_at: 'timestamptz not null',
  },
  /** Slack's deliveries that were accepted, so that a repeated one is noticed. */
  deliveries: { id: 'text primary key', seen_at: 'timestamptz not null' },
  /** Messages to Slack, each posted once (`outbox/outbox.ts`). */
  outbox: {
    /** The idempotency key, and the marker in the message's metadata. */
    id: 'text primary key',
    /** Order of putting: replies to one parent are posted in it. */
    seq: 'bigint generated always as identity',
    ...place,
    kind: 'text not null',
    about: 'text not null',
    /** The message, as JSON, where it is not rendered when it is sent. */
    body: 'text',
    /** Channels and user ids as a JSON array; empty for replies. */
    places: 'text not null',
    /** Index of the place that is tried, or took it. */
    place: 'integer not null default 0',
    parent: 'text',
    doubt: 'text not null',
    state: 'text not null',
    /** Version of the message that is wanted, and the one that Slack shows. */
    wanted: 'integer not null default 1',
    shown: 'integer not null default 0',
    posted_in: 'text',
    ts: 'text',
    /** The attempt that posts it, since when; and when the first attempt at this place was. */
    claim: 'text',
    claimed_at: 'timestamptz',
    first_at: 'timestamptz',
    /** The reserved moment of the next call. */
    slot: 'timestamptz',
    /** When the next job looks at the row; null = nothing is left to do. */
    next_at: 'timestamptz',
    /** Failed attempts, and looks for its marker. */
    attempts: 'integer not null default 0',
    looks: 'integer not null default 0',
    /** Slack's word of the first place that refused it. */
    code: 'text',
    /** Why it was refused, as JSON: the fallback message says something else. */
    refusal: 'text',
    expires_at: 'timestamptz not null',
    changed_at: 'timestamptz not null',
  },
  /** When the next call may be made, for each channel and method of a workspace: one table for all processes. */
  slack_pace: { tenant: 'text not null', bucket: 'text not null', free_at: 'timestamptz not null' },
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
    outcome: 'text',
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
    ...place,
    user_id: 'text not null',
    /** Destination channel; null = the person's direct messages. */
    channel: 'text',
    request: 'text',
    /** `asked`, `waiting`, `running`, `sharing`, `done`, `failed`, `cancelled`, `unknown`. */
    state: 'text not null',
    /** The attempt that has it: a fencing token. */
    run: 'text',
    attempt: 'integer not null',
    row_count: 'bigint not null',
    byte_count: 'bigint not null',
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
    ...place,
    begun_at: 'timestamptz not null',
    /** The operation that it asked for, with whose end it ends. */
    operation_id: 'text unique references operations',
    /** A run that has ended, or is ending, without an operation cannot propose one any more. */
    closed_at: 'timestamptz',
  },
  /** Digests and alerts: what reads an account on a schedule, with its owner's key, and posts. */
  reports: {
    id: 'text primary key',
    ...place,
    /** It runs with this person's key. */
    owner: 'text not null',
    channel: 'text not null',
    /** What its form ordered, as JSON: see `DigestOrder` and `AlertSubject`. */
    body: 'text not null',
    /** One higher with every change that people make. */
    revision: 'integer not null',
    /** A `PauseReason`; null = it runs. */
    paused: 'text',
    paused_by: 'text',
    /** `waiting`: it is told once the app is back. */
    pause_notice: 'text',
    /** The next check; of a digest the first moment that no run is stored for yet. */
    next_due: 'timestamptz',
    failures: 'integer not null',
    created_at: 'timestamptz not null',
    /** Until it is purged, the deletion can be undone. */
    deleted_at: 'timestamptz',
    kind: 'text not null',
    /** Of an alert: the newest checks and what its condition remembers, as JSON: see `AlertState`. */
    state: 'text',
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
    state: 'text not null',
    run_at: 'timestamptz not null',
    by_hand: 'text',
    /** Runs before it that were skipped while no process ran. */
    missed: 'integer not null',
    /** Attempts at collecting. It only rises: an overtaken attempt changes nothing. */
    attempts: 'integer not null',
    /** Its findings, as JSON, for later runs to compare with. */
    figures: 'text',
  },
  /** The baseline of a digest, and the pending one of the run that is under way. JSON, up to some MB. */
  report_baselines: {
    report_id: 'text primary key references reports on delete cascade',
    body: 'text',
    /** Replaces `body` once the run of that moment has posted. */
    next_body: 'text',
    next_due: 'timestamptz',
  },
  /** From when an alert fired until it was resolved; also a time in which it could not check. */
  report_incidents: {
    id: 'text primary key',
    report_id: 'text not null references reports on delete cascade',
    kind: 'text not null',
    opened_at: 'timestamptz not null',
    closed_at: 'timestamptz',
    figures: 'text not null',
    /** The outbox id of its newest message; null = none yet: it began in a snooze. */
    message: 'text',
    acknowledged_by: 'text',
    acknowledged_at: 'timestamptz',
  },
  /** Requests that jobs sent for a person's account, by hour. */
  read_budgets: {
    ...person,
    hour: 'timestamptz not null',
    requests: 'integer not null',
  },
  /** Locked while a look is stored, so that the changes of a person are committed in the order of their ids. */
  zone_looks: {
    ...person,
    looked_at: 'timestamptz not null',
    /** When all zones were looked at: from then on an unknown zone is a new one. */
    whole_at: 'timestamptz',
  },
  /** The settings of a zone as a person’s key showed them last. */
  zone_settings: {
    ...person,
    zone_id: 'text not null',
    zone_name: 'text not null',
    /** SHA-256 of the settings as they were read: compared and set, so that a change is recorded once. */
    hash: 'text not null',
    /** JSON, compressed, in Base64. Keyed digests in place of what is not shown. */
    body: 'text not null',
    baseline_at: 'timestamptz not null default now()',
  },
  zone_changes: {
    id: 'bigint generated always as identity primary key',
    ...person,
    zone_id: 'text not null',
    zone_name: 'text not null',
    at: 'timestamptz not null',
    /** A member's name, `EdgeRules/<id>`, or `Zone` for a whole one. */
    path: 'text not null',
    before: 'text not null',
    after: 'text not null',
  },
  /** Origin errors of a zone on a UTC day, as jobs of one person count them: each reading replaces the day. */
  error_days: {
    ...person,
    zone_id: 'text not null',
    day: 'text not null',
    fingerprint: 'text not null',
    read_at: 'timestamptz not null',
    /** When each code was first found, as JSON. */
    noticed: 'text not null',
    /** Counts by code and five minutes, as JSON: mostly some kB, no entries. */
    body: 'text not null',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

export const constraints: { readonly [Table in keyof typeof tables]?: string } = {
  policies: 'primary key (tenant, version)',
  audit_records: 'primary key (tenant, seq)',
  linked_keys: 'primary key (tenant, user_id)',
  sealed_versions: 'primary key (tenant, user_id, kind)',
  names: 'primary key (tenant, kind, id)',
  recent_ids: 'primary key (tenant, user_id, kind, id)',
  channel_zones: 'primary key (tenant, channel)',
  slack_pace: 'primary key (tenant, bucket)',
  operation_events: 'primary key (operation_id, seq)',
  operation_values: 'primary key (tenant, owner_id)',
  report_runs: 'primary key (report_id, due)',
  read_budgets: 'primary key (tenant, user_id, hour)',
  zone_looks: 'primary key (tenant, user_id)',
  zone_settings: `primary key (tenant, user_id, zone_id),
    foreign key (tenant, user_id) references zone_looks on delete cascade`,
  zone_changes: 'foreign key (tenant, user_id) references zone_looks on delete cascade',
  error_days: 'primary key (tenant, user_id, zone_id, day)',
};

/** Indexes and triggers. */
export const statements: readonly string[] = [
  'create index key_links_person on key_links (tenant, user_id)',
  'create index client_tokens_person on client_tokens (tenant, user_id)',
  'create index key_links_expires_at on key_links (expires_at)',
  'create index client_tokens_expires_at on client_tokens (expires_at)',
  // A name can be typed in place of its id.
  'create unique index names_name on names (tenant, kind, lower(name))',
  `create trigger audit_records_append_only before update or delete on audit_records
    for each row execute function refuse_change()`,
  `create trigger audit_records_no_truncate before truncate on audit_records
    for each statement execute function refuse_change()`,
  // The newest version of a row outlives the row, so that an older copy that is put back is noticed.
  `create trigger sealed_versions_stay before delete on sealed_versions
    for each row execute function refuse_change()`,
  `create trigger sealed_versions_only_grow before update on sealed_versions
    for each row when (new.version < old.version) execute function refuse_change()`,
  'create index deliveries_seen_at on deliveries (seen_at)',
  'create index outbox_next_at on outbox (next_at) where next_at is not null',
  'create index outbox_replies on outbox (parent, seq) where parent is not null',
  'create index outbox_changed_at on outbox (changed_at)',
  // Messages that wait for their moment: a pause that Slack asks for voids them.
  'create index outbox_slots on outbox (tenant) where slot is not null',
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
  'create index zone_changes_person on zone_changes (tenant, user_id, id)',
  'create index zone_changes_at on zone_changes (at)',
  'create index error_days_day on error_days (day)',
];
