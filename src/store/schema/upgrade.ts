const movedColumns = `tenant, enterprise_id, team_id, owner, channel, body, revision, paused, paused_by, paused_at,
  pause_notice, next_due, failures, created_at, deleted_at`;

/**
 * Brings a database of a version before 0.2.0 to the tables of this one, around the creation of what it lacks. Digests and
 * watches become one table: digests are renamed in place, so that runs and baselines keep their keys, and alerts move in.
 * Ids are short and drawn at random: an alert whose id a digest has gets another one.
 */
export const upgrade = {
  before: `if to_regclass('digests') is not null then
      alter table digests rename to reports;
      alter table reports add column kind text not null default 'digest';
      alter table reports alter column kind drop default;
      alter table digest_runs rename to report_runs;
      alter table report_runs rename column digest_id to report_id;
      alter table digest_baselines rename to report_baselines;
      alter table report_baselines rename column digest_id to report_id;
      alter index digests_tenant rename to reports_tenant;
      alter index digests_next_due rename to reports_next_due;
      alter index if exists digests_deleted_at rename to reports_deleted_at;
      alter index digest_runs_open rename to report_runs_open;
      alter index if exists digest_runs_due rename to report_runs_due;
    end if`,
  after: `if to_regclass('watches') is not null then
      alter table watch_incidents add column if not exists message text;
      create temporary table moved on commit drop as select id as old,
        case when exists (select from reports r where r.id = w.id) then substr(md5(w.id || w.tenant), 1, 6) else id end as new
        from watches w;
      insert into reports (id, ${movedColumns}, kind, state, checked_at, snoozed_until, snoozed_by, heartbeat_at)
        select new, ${movedColumns}, 'alert', state, looked_at, snoozed_until, snoozed_by, alive_at
        from watches join moved on old = id;
      insert into report_incidents (id, report_id, kind, opened_at, closed_at, figures, replies, message, acknowledged_by,
          acknowledged_at)
        select i.id, new, case kind when 'wrong' then 'firing' else 'unreadable' end, opened_at, closed_at, figures, replies,
          coalesce(message, case when told then 'watch:' || i.id end), acknowledged_by, acknowledged_at
        from watch_incidents i join moved on old = watch_id;
      drop table watch_incidents, watches, moved;
    end if;
    alter table operations add column if not exists via text;
    alter table exports drop column if exists deaths;
    alter table sealed_versions drop column if exists key_id, drop column if exists mac;
    drop table if exists access_rounds, audit_checkpoints, audit_signing_keys, error_counts, installation_users,
      keyring_keys, keyring_members, native_support`,
};
