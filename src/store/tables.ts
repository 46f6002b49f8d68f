// Every table, parents before children, each column as its SQL. `sealed`: encrypted under the key `key_id`.

/** Where something belongs: `tenant` is the organization or the workspace that ids of people are unique in. */
const place = { tenant: 'text not null', enterprise_id: 'text', team_id: 'text not null' } as const;
const person = { tenant: 'text not null', user_id: 'text not null' } as const;

export const tables = {
  /** Every version of a tenant's settings; the highest one holds. */
  policies: {
    tenant: 'text not null',
    version: 'integer not null',
    body: 'text not null',
    changed_by: 'text not null',
    changed_at: 'timestamptz not null',
  },
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
  /** One CDN key a person. */
  linked_keys: {
    ...person,
    team_id: 'text not null',
    sealed: 'text not null',
    key_id: 'text not null',
    fingerprint: 'text not null',
    linked_at: 'timestamptz not null',
    version: 'bigint not null',
  },
  installations: {
    tenant: 'text primary key',
    sealed: 'text not null',
    key_id: 'text not null',
    installed_at: 'timestamptz not null',
    version: 'bigint not null',
  },
  client_tokens: {
    /** SHA-256, hexadecimal. The token itself is shown once and kept nowhere. */
    token_hash: 'text primary key',
    ...person,
    enterprise_id: 'text',
    team_id: 'text not null',
    key_version: 'bigint not null',
    name: 'text not null',
    made_at: 'timestamptz not null',
    expires_at: 'timestamptz not null',
  },
  /** One-time links to the page where a person enters a key. */
  key_links: {
    token_hash: 'text primary key',
    ...person,
    enterprise_id: 'text',
    team_id: 'text not null',
    shown_for: 'text not null',
    made_at: 'timestamptz not null',
    expires_at: 'timestamptz not null',
    refusals: 'integer not null',
    claim: 'text',
    claimed_until: 'timestamptz',
    /** `used`, `voided` or `refused`; null = open until it expires. */
    ended: 'text',
    renewals: 'integer not null',
    renewed_at: 'timestamptz',
  },
  /** The newest version of each sealed row: an older copy does not match it. Stays when the row is destroyed. */
  sealed_versions: {
    ...person,
    kind: 'text not null',
    version: 'bigint not null',
  },
  names: {
    tenant: 'text not null',
    kind: 'text not null',
    id: 'text not null',
    name: 'text not null',
    named_by: 'text not null',
    named_at: 'timestamptz not null',
  },
  recent_ids: {
    ...person,
    kind: 'text not null',
    id: 'text not null',
    used_at: 'timestamptz not null',
  },
  channel_zones: {
    tenant: 'text not null',
    channel: 'text not null',
    zone_id: 'text not null',
    zone_name: 'text not null',
    set_by: 'text not null',
    set_at: 'timestamptz not null',
  },
  /** Slack's deliveries that were accepted. */
  deliveries: { id: 'text primary key', seen_at: 'timestamptz not null' },
  /** Messages to Slack, each posted once (`outbox/outbox.ts`). */
  outbox: {
    id: 'text primary key',
    seq: 'bigint generated always as identity',
    ...place,
    kind: 'text not null',
    about: 'text not null',
    body: 'text',
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
    claim: 'text',
    claimed_at: 'timestamptz',
    first_at: 'timestamptz',
    slot: 'timestamptz',
    /** When the next job looks at the row; null = nothing is left to do. */
    next_at: 'timestamptz',
    attempts: 'integer not null default 0',
    looks: 'integer not null default 0',
    code: 'text',
    refusal: 'text',
    expires_at: 'timestamptz not null',
    changed_at: 'timestamptz not null',
  },
  /** When the next call may be made, for each channel and method. */
  slack_pace: { tenant: 'text not null', bucket: 'text not null', free_at: 'timestamptz not null' },
  /** Requests that write to the CDN. Rows stay. */
  operations: {
    id: 'text primary key',
    tenant: 'text not null',
    kind: 'text not null',
    state: 'text not null',
    seq: 'integer not null',
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
    cdn_key: 'text',
    reason: 'text',
    snapshot: 'text not null',
    policy_version: 'integer not null',
    approvals_needed: 'integer not null',
    /** The operation it retries; no longer written. */
    attempt_of: 'text unique',
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
  /** Append-only: every move of an operation. */
  operation_events: {
    operation_id: 'text not null references operations',
    seq: 'integer not null',
    at: 'timestamptz not null',
    actor: 'text not null',
    what: 'text not null',
    outcome: 'text',
    key_id: 'text',
    mac: 'text',
  },
  operation_values: {
    tenant: 'text not null',
    /** `<user id>/<operation id>`: part of what it is sealed to. */
    owner_id: 'text not null',
    operation_id: 'text not null references operations',
    sealed: 'text not null',
    key_id: 'text not null',
    version: 'bigint not null',
  },
  /** One export of event logs. Moved by compare-and-set only. */
  exports: {
    id: 'text primary key',
    ...place,
    user_id: 'text not null',
    channel: 'text',
    request: 'text',
    /** `asked`, `waiting`, `running`, `sharing`, `done`, `failed`, `cancelled`, `unknown`. */
    state: 'text not null',
    run: 'text',
    attempt: 'integer not null',
    row_count: 'bigint not null',
    byte_count: 'bigint not null',
    files: 'text not null',
    asked_at: 'timestamptz not null',
    ended_at: 'timestamptz',
    ending: 'text',
    files_deleted_at: 'timestamptz',
  },
  /** One run of a workflow step. */
  step_runs: {
    id: 'text primary key',
    ...place,
    begun_at: 'timestamptz not null',
    operation_id: 'text unique references operations',
    closed_at: 'timestamptz',
  },
  /** Digests and alerts. */
  reports: {
    id: 'text primary key',
    ...place,
    owner: 'text not null',
    channel: 'text not null',
    body: 'text not null',
    revision: 'integer not null',
    paused: 'text',
    paused_by: 'text',
    pause_notice: 'text',
    /** The next check; of a digest the first moment that no run is stored for yet. */
    next_due: 'timestamptz',
    failures: 'integer not null',
    created_at: 'timestamptz not null',
    deleted_at: 'timestamptz',
    kind: 'text not null',
    state: 'text',
    checked_at: 'timestamptz',
    snoozed_until: 'timestamptz',
    snoozed_by: 'text',
    heartbeat_at: 'timestamptz',
  },
  report_runs: {
    report_id: 'text not null references reports on delete cascade',
    due: 'timestamptz not null',
    state: 'text not null',
    run_at: 'timestamptz not null',
    by_hand: 'text',
    missed: 'integer not null',
    attempts: 'integer not null',
    figures: 'text',
  },
  /** The baseline of a digest, and the pending one of the run that is under way. */
  report_baselines: {
    report_id: 'text primary key references reports on delete cascade',
    body: 'text',
    next_body: 'text',
    next_due: 'timestamptz',
  },
  /** From when an alert fired, or could not check, until that ended. */
  report_incidents: {
    id: 'text primary key',
    report_id: 'text not null references reports on delete cascade',
    kind: 'text not null',
    opened_at: 'timestamptz not null',
    closed_at: 'timestamptz',
    figures: 'text not null',
    message: 'text',
    acknowledged_by: 'text',
    acknowledged_at: 'timestamptz',
  },
  read_budgets: {
    ...person,
    hour: 'timestamptz not null',
    requests: 'integer not null',
  },
  /** Locked while a reading is stored, so that changes are committed in the order of their ids. */
  zone_looks: {
    ...person,
    looked_at: 'timestamptz not null',
    whole_at: 'timestamptz',
  },
  zone_settings: {
    ...person,
    zone_id: 'text not null',
    zone_name: 'text not null',
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
    path: 'text not null',
    before: 'text not null',
    after: 'text not null',
  },
  error_days: {
    ...person,
    zone_id: 'text not null',
    day: 'text not null',
    fingerprint: 'text not null',
    read_at: 'timestamptz not null',
    noticed: 'text not null',
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
  'create unique index names_name on names (tenant, kind, lower(name))',
  `create trigger audit_records_append_only before update or delete on audit_records
    for each row execute function refuse_change()`,
  `create trigger audit_records_no_truncate before truncate on audit_records
    for each statement execute function refuse_change()`,
  // The version outlives its row, so that an older copy that is put back is noticed.
  `create trigger sealed_versions_stay before delete on sealed_versions
    for each row execute function refuse_change()`,
  `create trigger sealed_versions_only_grow before update on sealed_versions
    for each row when (new.version < old.version) execute function refuse_change()`,
  'create index deliveries_seen_at on deliveries (seen_at)',
  'create index outbox_next_at on outbox (next_at) where next_at is not null',
  'create index outbox_replies on outbox (parent, seq) where parent is not null',
  'create index outbox_changed_at on outbox (changed_at)',
  'create index outbox_slots on outbox (tenant) where slot is not null',
  'create index operations_person on operations (tenant, user_id, created_at)',
  'create index operations_path on operations (tenant, path)',
  `create index operations_moving on operations (state) where state in ('proposed', 'approved', 'executing')`,
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
  'create unique index report_incidents_open on report_incidents (report_id, kind) where closed_at is null',
  'create index zone_changes_person on zone_changes (tenant, user_id, id)',
  'create index zone_changes_at on zone_changes (at)',
  'create index error_days_day on error_days (day)',
];
