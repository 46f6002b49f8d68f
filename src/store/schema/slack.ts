import type { Generated } from 'kysely';
import { createTables, type Maybe, type Moment } from './columns.ts';

export interface SlackTables {
  deliveries: Deliveries;
  outbox: Outbox;
  slack_pace: SlackPace;
}

/** Slack's deliveries that were accepted, so that a repeated one is noticed. */
interface Deliveries {
  id: string;
  seen_at: Moment;
}

/** Messages to Slack, each posted once (`outbox/outbox.ts`). */
interface Outbox {
  /** The idempotency key, and the marker in the message's metadata. */
  id: string;
  /** Order of putting: replies to one parent are posted in it. */
  seq: Generated<number>;
  tenant: string;
  enterprise_id: string | null;
  team_id: string;
  kind: string;
  /** For the functions of its kind, as JSON. */
  about: string;
  /** The message, as JSON, where it is not rendered when it is sent. */
  body: string | null;
  /** Channels and user ids as a JSON array; empty for replies. */
  places: string;
  /** Index of the place that is tried, or took it. */
  place: Generated<number>;
  parent: string | null;
  doubt: 'look' | 'once';
  state: 'due' | 'sending' | 'sent' | 'unknown' | 'dead';
  /** Version of the message that is wanted, and the one that Slack shows. */
  wanted: Generated<number>;
  shown: Generated<number>;
  posted_in: string | null;
  ts: string | null;
  /** The attempt that posts it, since when; and when the first attempt at this place was. */
  claim: string | null;
  claimed_at: Maybe;
  first_at: Maybe;
  /** Files carry no marker and are not looked for. */
  has_files: Generated<boolean>;
  /** The reserved moment of the next call. */
  slot: Maybe;
  /** When the next job looks at the row; null = nothing is left to do. */
  next_at: Maybe;
  /** Failed attempts, and looks for its marker. */
  attempts: Generated<number>;
  looks: Generated<number>;
  /** Slack's word of the first place that refused it. */
  code: string | null;
  /** Why it was refused as it is, as JSON: `renderInstead` says something else. */
  refusal: string | null;
  expires_at: Moment;
  changed_at: Moment;
}

/** When the next call may be made, for each channel and method of a workspace: one table for all processes. */
interface SlackPace {
  tenant: string;
  lane: string;
  free_at: Moment;
}

export const createSlackTables = createTables(
  'create table deliveries (id text primary key, seen_at timestamptz not null)',
  'create index deliveries_seen_at on deliveries (seen_at)',
  `create table outbox (
    id text primary key,
    seq bigint generated always as identity,
    tenant text not null,
    enterprise_id text,
    team_id text not null,
    kind text not null,
    about text not null,
    body text,
    places text not null,
    place integer not null default 0,
    parent text,
    doubt text not null,
    state text not null,
    wanted integer not null default 1,
    shown integer not null default 0,
    posted_in text,
    ts text,
    claim text,
    claimed_at timestamptz,
    first_at timestamptz,
    has_files boolean not null default false,
    slot timestamptz,
    next_at timestamptz,
    attempts integer not null default 0,
    looks integer not null default 0,
    code text,
    refusal text,
    expires_at timestamptz not null,
    changed_at timestamptz not null)`,
  'create index outbox_next_at on outbox (next_at) where next_at is not null',
  'create index outbox_replies on outbox (parent, seq) where parent is not null',
  'create index outbox_changed_at on outbox (changed_at)',
  `create table slack_pace (
    tenant text not null,
    lane text not null,
    free_at timestamptz not null,
    primary key (tenant, lane))`,
);
