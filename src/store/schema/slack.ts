import { defineTables } from './define-tables.ts';

/** Deliveries from Slack and messages to it. */
export const slackTables = defineTables(
  {
    /** Slack's deliveries that were accepted, so that a repeated one is noticed. */
    deliveries: { id: 'text primary key', seen_at: 'timestamptz not null' },
    /** Messages to Slack, each posted once (`outbox/outbox.ts`). */
    outbox: {
      /** The idempotency key, and the marker in the message's metadata. */
      id: 'text primary key',
      /** Order of putting: replies to one parent are posted in it. */
      seq: 'bigint generated always as identity',
      tenant: 'text not null',
      enterprise_id: 'text',
      team_id: 'text not null',
      kind: 'text not null',
      /** For the functions of its kind, as JSON. */
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
  },
  { slack_pace: 'tenant, bucket' },
  [
    'create index deliveries_seen_at on deliveries (seen_at)',
    'create index outbox_next_at on outbox (next_at) where next_at is not null',
    'create index outbox_replies on outbox (parent, seq) where parent is not null',
    'create index outbox_changed_at on outbox (changed_at)',
    // Messages that wait for their moment: a pause that Slack asks for voids them.
    'create index outbox_slots on outbox (tenant) where slot is not null',
  ],
);
