import { createTables, type Maybe, type Moment } from './columns.ts';

export interface DigestTables {
  digests: Digests;
  digest_runs: DigestRuns;
  digest_books: DigestBooks;
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
    paused_told text,
    next_due timestamptz,
    failures integer not null,
    made_at timestamptz not null,
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
    claim text,
    claimed_at timestamptz,
    attempts integer not null,
    lookups integer not null,
    outcome text,
    parts text,
    parts_sent integer not null,
    sent_to text,
    ts text,
    figures text,
    reason text,
    primary key (digest_id, due))`,
  `create index digest_runs_open on digest_runs (run_at)
    where state in ('due', 'collecting', 'ready', 'sending')`,
  `create table digest_books (
    digest_id text primary key references digests on delete cascade,
    revision integer not null,
    body text,
    next_body text,
    next_due timestamptz,
    next_base integer)`,
);
