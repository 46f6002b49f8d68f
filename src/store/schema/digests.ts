import { createTables, type Maybe, type Moment } from './columns.ts';

export interface DigestTables {
  digests: DigestsTable;
  digest_runs: DigestRunsTable;
  digest_baselines: DigestBaselinesTable;
}

/** Posts on a schedule. */
interface DigestsTable {
  id: string;
  tenant: string;
  enterprise_id: string | null;
  team_id: string;
  /** It runs with this person's key. */
  owner: string;
  channel: string;
  /** What it reports and when, as JSON: see `writeDigestBody`. */
  body: string;
  /** One higher with every change that people make. */
  revision: number;
  /** A `PauseReason`; null = it runs. */
  paused: string | null;
  /** Null = the bot. */
  paused_by: string | null;
  paused_at: Maybe;
  /** A `NoticeState`: how far people were told of the pause. */
  pause_notice: string | null;
  /** The first moment that no run is stored for yet. */
  next_due: Maybe;
  /** Consecutive runs that failed. */
  failures: number;
  created_at: Moment;
  /** Until it is purged, the deletion can be undone. */
  deleted_at: Maybe;
}

/** Every run of a digest, once for each moment it was due. `state` is a `RunState`. */
interface DigestRunsTable {
  digest_id: string;
  due: Moment;
  state: string;
  /** Not before. */
  run_at: Moment;
  /** Who asked for it; null = the schedule. */
  by_hand: string | null;
  /** Runs before it that were skipped while no process ran. */
  missed: number;
  /** Attempts at collecting, and failed requests of them. It only rises: an attempt that was overtaken changes nothing. */
  attempts: number;
  /** What it found, as JSON, for later runs to compare with. */
  figures: string | null;
}

/** What a digest remembers of what it last posted, and what it will of the run that is under way. JSON, up to some MB. */
interface DigestBaselinesTable {
  digest_id: string;
  /** One higher each time that `body` is replaced. */
  revision: number;
  body: string | null;
  /** Replaces `body` once the run of that moment has posted, if `revision` is still this one. */
  next_body: string | null;
  next_due: Maybe;
  next_base: number | null;
}

export const createDigestTables = createTables(
  `create table digests (
    id text primary key,
    tenant text not null,
    enterprise_id text,
    team_id text not null,
    owner text not null,
    channel text not null,
    body text not null,
    revision integer not null,
    paused text,
    paused_by text,
    paused_at timestamptz,
    pause_notice text,
    next_due timestamptz,
    failures integer not null,
    created_at timestamptz not null,
    deleted_at timestamptz)`,
  'create index digests_tenant on digests (tenant)',
  'create index digests_next_due on digests (next_due) where paused is null and deleted_at is null',
  `create table digest_runs (
    digest_id text not null references digests on delete cascade,
    due timestamptz not null,
    state text not null,
    run_at timestamptz not null,
    by_hand text,
    missed integer not null,
    attempts integer not null,
    figures text,
    primary key (digest_id, due))`,
  `create index digest_runs_open on digest_runs (run_at) where state in ('due', 'collecting')`,
  `create table digest_baselines (
    digest_id text primary key references digests on delete cascade,
    revision integer not null,
    body text,
    next_body text,
    next_due timestamptz,
    next_base integer)`,
);
