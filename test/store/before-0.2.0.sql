-- The tables as migrations of versions before 0.2.0 made them, for tests of the upgrade: 0.1.0 has those up to 0004.
-- 0001-auth
create table policies (tenant text not null, version integer not null, body text not null, changed_by text not null, changed_at timestamptz not null, primary key (tenant, version));
create table audit_records (tenant text not null, seq bigint not null, at timestamptz not null, actor text not null, event text not null, subject text, detail jsonb not null, request_id text, prev_hash text not null, hash text not null, primary key (tenant, seq));
create table audit_checkpoints (tenant text not null, day text not null, state text not null, code text, channel text not null, at timestamptz not null, seq bigint, head text, kid text, signature text, primary key (tenant, day));
create table audit_signing_keys (tenant text primary key, sealed text not null, key_id text not null, made_at timestamptz not null, version bigint not null);
create table linked_keys (tenant text not null, user_id text not null, team_id text not null, sealed text not null, key_id text not null, fingerprint text not null, linked_at timestamptz not null, version bigint not null, primary key (tenant, user_id));
create table installations (tenant text primary key, sealed text not null, key_id text not null, installed_at timestamptz not null, version bigint not null);
create table installation_users (tenant text not null references installations on delete cascade, user_id text not null, sealed text not null, key_id text not null, installed_at timestamptz not null, version bigint not null, primary key (tenant, user_id));
create table key_links (token_hash text primary key, tenant text not null, user_id text not null, enterprise_id text, team_id text not null, shown_for text not null, made_at timestamptz not null, expires_at timestamptz not null, refusals integer not null, claim text, claimed_until timestamptz, ended text, renewals integer not null, renewed_at timestamptz);
create table sealed_versions (tenant text not null, user_id text not null, kind text not null, version bigint not null, key_id text not null, mac text not null, primary key (tenant, user_id, kind));
create table keyring_keys (key_id text primary key, check_value text not null, first_seen timestamptz not null default now());
create table keyring_members (id text primary key, label text not null, key_ids text not null, primary_id text not null, seen_at timestamptz not null default now());
create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op)
        using errcode = 'integrity_constraint_violation';
    end $$;
create trigger audit_records_append_only before update or delete on audit_records for each row execute function refuse_change();
create trigger audit_records_no_truncate before truncate on audit_records for each statement execute function refuse_change();
create trigger audit_checkpoints_stay before delete on audit_checkpoints for each row execute function refuse_change();
create index key_links_person on key_links (tenant, user_id);
create index key_links_expires_at on key_links (expires_at);
create trigger sealed_versions_stay before delete on sealed_versions for each row execute function refuse_change();
create trigger sealed_versions_only_grow before update on sealed_versions for each row when (new.version < old.version) execute function refuse_change();
-- 0002-slack
create table deliveries (id text primary key, seen_at timestamptz not null);
create table outbox (id text primary key, seq bigint generated always as identity, tenant text not null, enterprise_id text, team_id text not null, kind text not null, about text not null, body text, places text not null, place integer not null default 0, parent text, doubt text not null, state text not null, wanted integer not null default 1, shown integer not null default 0, posted_in text, ts text, claim text, claimed_at timestamptz, first_at timestamptz, slot timestamptz, next_at timestamptz, attempts integer not null default 0, looks integer not null default 0, code text, refusal text, expires_at timestamptz not null, changed_at timestamptz not null);
create table slack_pace (tenant text not null, bucket text not null, free_at timestamptz not null, primary key (tenant, bucket));
create index deliveries_seen_at on deliveries (seen_at);
create index outbox_next_at on outbox (next_at) where next_at is not null;
create index outbox_replies on outbox (parent, seq) where parent is not null;
create index outbox_changed_at on outbox (changed_at);
-- 0003-engines
create table operations (id text primary key, tenant text not null, kind text not null, state text not null, seq integer not null, enterprise_id text, team_id text not null, user_id text not null, channel_id text, method text not null, path text not null, body text, value_mac text, cdn_key text, reason text, snapshot text not null, policy_version integer not null, approvals_needed integer not null, attempt_of text unique, created_at timestamptz not null, expires_at timestamptz not null, seal text not null, key_id text not null, mac text not null, moved_by text not null, moved_at timestamptz not null, outcome text, approvers text not null, reminded_at timestamptz);
create table operation_events (operation_id text not null references operations, seq integer not null, at timestamptz not null, actor text not null, what text not null, outcome text, key_id text, mac text, primary key (operation_id, seq));
create table operation_values (tenant text not null, owner_id text not null, operation_id text not null references operations, sealed text not null, key_id text not null, version bigint not null, primary key (tenant, owner_id));
create table exports (id text primary key, tenant text not null, enterprise_id text, team_id text not null, user_id text not null, channel text, request text, state text not null, run text, attempt integer not null, row_count bigint not null, byte_count bigint not null, files text not null, asked_at timestamptz not null, ended_at timestamptz, ending text, files_deleted_at timestamptz);
create table digests (id text primary key, tenant text not null, enterprise_id text, team_id text not null, owner text not null, channel text not null, body text not null, revision integer not null, paused text, paused_by text, paused_at timestamptz, pause_notice text, next_due timestamptz, failures integer not null, created_at timestamptz not null, deleted_at timestamptz);
create table digest_runs (digest_id text not null references digests on delete cascade, due timestamptz not null, state text not null, run_at timestamptz not null, by_hand text, missed integer not null, attempts integer not null, figures text, primary key (digest_id, due));
create table digest_baselines (digest_id text primary key references digests on delete cascade, revision integer not null, body text, next_body text, next_due timestamptz, next_base integer);
create index operations_person on operations (tenant, user_id, created_at);
create index operations_path on operations (tenant, path);
create index operations_moving on operations (state) where state in ('proposed', 'approved', 'executing');
create trigger operations_stay before delete on operations for each row execute function refuse_change();
create unique index operation_events_begun on operation_events (operation_id) where what = 'executing';
create unique index operation_events_approver on operation_events (operation_id, actor)
      where what in ('approval', 'approved');
create trigger operation_events_append_only before update or delete on operation_events for each row execute function refuse_change();
create trigger operation_events_no_truncate before truncate on operation_events for each statement execute function refuse_change();
create index exports_person on exports (tenant, user_id, asked_at);
create index exports_unfinished on exports (state) where ended_at is null;
create index digests_tenant on digests (tenant);
create index digests_next_due on digests (next_due) where paused is null and deleted_at is null;
create index digest_runs_open on digest_runs (run_at) where state in ('due', 'collecting');
-- 0004-settings
update policies set body = ((body::jsonb - 'digestChannels')
      || jsonb_build_object('postChannels', body::jsonb -> 'digestChannels'))::text
      where body::jsonb ? 'digestChannels';
-- 0005-names
create table names (tenant text not null, kind text not null, id text not null, name text not null, named_by text not null, named_at timestamptz not null, primary key (tenant, kind, id));
create table recent_ids (tenant text not null, user_id text not null, kind text not null, id text not null, used_at timestamptz not null, primary key (tenant, user_id, kind, id));
create table channel_zones (tenant text not null, channel text not null, zone_id text not null, zone_name text not null, set_by text not null, set_at timestamptz not null, primary key (tenant, channel));
create unique index names_name on names (tenant, kind, lower(name));
-- 0006-accounts
create table read_budgets (tenant text not null, user_id text not null, hour timestamptz not null, requests integer not null, primary key (tenant, user_id, hour));
-- 0007-error-counts
create table error_counts (tenant text not null, user_id text not null, zone_id text not null, fingerprint text not null, revision integer not null, looked_at timestamptz not null, body text not null, primary key (tenant, user_id, zone_id));
-- 0008-health
alter table keyring_keys add column canary text;
create index operations_open on operations (state)
    where state in ('proposed', 'approved', 'executing', 'unknown');
-- 0009-zone-settings
create table zone_looks (tenant text not null, user_id text not null, looked_at timestamptz not null, whole_at timestamptz, primary key (tenant, user_id));
create table zone_settings (tenant text not null, user_id text not null, zone_id text not null, zone_name text not null, hash text not null, body text not null, primary key (tenant, user_id, zone_id), foreign key (tenant, user_id) references zone_looks on delete cascade);
create table zone_changes (id bigint generated always as identity primary key, tenant text not null, user_id text not null, zone_id text not null, zone_name text not null, at timestamptz not null, path text not null, before text not null, after text not null, foreign key (tenant, user_id) references zone_looks on delete cascade);
create index zone_changes_person on zone_changes (tenant, user_id, id);
create index zone_changes_at on zone_changes (at);
-- 0010-steps
create table step_runs (id text primary key, tenant text not null, enterprise_id text, team_id text not null, begun_at timestamptz not null, operation_id text unique references operations);
-- 0011-native-support
create table native_support (tenant text not null, method text not null, kind text not null, taken boolean not null, seen_at timestamptz not null, primary key (tenant, method, kind));
-- 0012-watches
create table watches (id text primary key, tenant text not null, enterprise_id text, team_id text not null, owner text not null, channel text not null, body text not null, revision integer not null, paused text, paused_by text, paused_at timestamptz, pause_notice text, next_due timestamptz, failures integer not null, created_at timestamptz not null, deleted_at timestamptz, looks integer not null default 0, looked_at timestamptz, state text, snoozed_until timestamptz, snoozed_by text, alive_at timestamptz);
create table watch_incidents (id text primary key, watch_id text not null references watches on delete cascade, kind text not null, opened_at timestamptz not null, closed_at timestamptz, figures text not null, replies integer not null default 0, told boolean not null, acknowledged_by text, acknowledged_at timestamptz);
create index watches_tenant on watches (tenant);
create index watches_owner_due on watches (tenant, owner, next_due) where paused is null and deleted_at is null;
create index watches_next_due on watches (next_due) where paused is null and deleted_at is null;
create index watch_incidents_watch on watch_incidents (watch_id, opened_at);
create unique index watch_incidents_open on watch_incidents (watch_id, kind) where closed_at is null;
-- 0013-closed-steps
alter table step_runs add column closed_at timestamptz;
-- 0014-scale
create index outbox_slots on outbox (tenant) where slot is not null;
create index digests_deleted_at on digests (deleted_at) where deleted_at is not null;
create index watches_deleted_at on watches (deleted_at) where deleted_at is not null;
create index digest_runs_due on digest_runs (due);
create index watch_incidents_closed_at on watch_incidents (closed_at);
create index step_runs_begun_at on step_runs (begun_at);
create index exports_ended_at on exports (ended_at);
create index exports_with_files on exports (tenant) where files_deleted_at is null;
-- 0015-access-rounds
create table access_rounds (tenant text primary key, begun_at timestamptz not null, after_tenant text, after_user text);
-- 0016-incident-messages
alter table watch_incidents add column message text;
-- 0017-export-deaths
alter table exports add column deaths integer not null default 0;
-- 0018-error-days
create table error_days (tenant text not null, user_id text not null, zone_id text not null, day text not null, fingerprint text not null, read_at timestamptz not null, noticed text not null, body text not null, primary key (tenant, user_id, zone_id, day));
create index error_days_day on error_days (day);
