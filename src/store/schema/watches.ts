import { defineTables } from './define-tables.ts';

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
