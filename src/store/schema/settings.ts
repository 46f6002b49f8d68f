import { defineTables } from './define-tables.ts';

/** Changes of settings that wait for a second admin. */
export const settingsTables = defineTables(
  {
    /** One waits in a tenant at a time. Rows are only ever added and ended. */
    pending_policies: {
      id: 'text primary key',
      tenant: 'text not null',
      enterprise_id: 'text',
      team_id: 'text not null',
      /** The version that it changes: void as soon as there is another. */
      base: 'integer not null',
      /** JSON (`auth/policy/policy.ts`). */
      body: 'text not null',
      /** Why it waits, as JSON (`auth/policy/lowering.ts`). */
      lowers: 'text not null',
      asked_by: 'text not null',
      asked_at: 'timestamptz not null',
      expires_at: 'timestamptz not null',
      /** User ids of the admins who were told, as JSON. */
      told: 'text not null',
      /** `waiting`, `confirmed`, `rejected` or `void`. */
      state: 'text not null',
      decided_by: 'text',
      decided_at: 'timestamptz',
    },
  },
  [
    "create unique index pending_policies_waiting on pending_policies (tenant) where state = 'waiting'",
    // The list of channels for digests holds for shared answers too.
    `update policies set body = ((body::jsonb - 'digestChannels')
      || jsonb_build_object('postChannels', body::jsonb -> 'digestChannels'))::text
      where body::jsonb ? 'digestChannels'`,
  ],
);
