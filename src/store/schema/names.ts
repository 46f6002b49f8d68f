import { defineTables } from './define-tables.ts';

/** What people call the ids of the CDN that have no name there. No secrets. */
export const nameTables = defineTables(
  {
    /** One name for an id in each tenant. */
    names: {
      tenant: 'text not null',
      /** A `NamedKind` (`auth/names.ts`). */
      kind: 'text not null',
      id: 'text not null',
      name: 'text not null',
      /** A user id. */
      named_by: 'text not null',
      named_at: 'timestamptz not null',
    },
    /** The ids that a person looked at last, a few of each kind. */
    recent_ids: {
      tenant: 'text not null',
      user_id: 'text not null',
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
  },
  [
    'alter table names add primary key (tenant, kind, id)',
    // A name can be typed in place of its id.
    'create unique index names_name on names (tenant, kind, lower(name))',
    'alter table recent_ids add primary key (tenant, user_id, kind, id)',
    'alter table channel_zones add primary key (tenant, channel)',
  ],
);
