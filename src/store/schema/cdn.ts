import { defineTables } from './define-tables.ts';

/** What jobs read of CDN accounts, with a person's key. */
export const cdnTables = defineTables(
  {
    /** Requests that jobs sent for a person's account, by hour. */
    read_budgets: {
      tenant: 'text not null',
      user_id: 'text not null',
      /** The moment at which it began. */
      hour: 'timestamptz not null',
      requests: 'integer not null',
    },
    /** Locked while a look is stored, so that the changes of a person are committed in the order of their ids. */
    zone_looks: {
      tenant: 'text not null',
      user_id: 'text not null',
      looked_at: 'timestamptz not null',
      /** When all zones were looked at: from then on an unknown zone is a new one. */
      whole_at: 'timestamptz',
    },
    /** The settings of a zone as a person’s key showed them last. */
    zone_settings: {
      tenant: 'text not null',
      user_id: 'text not null',
      zone_id: 'text not null',
      zone_name: 'text not null',
      /** SHA-256 of the settings as they were read: compared and set, so that a change is recorded once. */
      hash: 'text not null',
      /** JSON, compressed, in Base64. Keyed digests in place of what is not shown. */
      body: 'text not null',
      /** Since when changes are recorded. */
      baseline_at: 'timestamptz not null default now()',
    },
    /** What changed in them. */
    zone_changes: {
      id: 'bigint generated always as identity primary key',
      tenant: 'text not null',
      user_id: 'text not null',
      zone_id: 'text not null',
      zone_name: 'text not null',
      /** Of the look that found it. */
      at: 'timestamptz not null',
      /** A member's name, `EdgeRules/<id>`, or `Zone` for a whole one. */
      path: 'text not null',
      /** JSON. */
      before: 'text not null',
      after: 'text not null',
    },
    /** Origin errors of a zone on a UTC day, as jobs of one person count them: each reading replaces the day. */
    error_days: {
      tenant: 'text not null',
      user_id: 'text not null',
      zone_id: 'text not null',
      /** `2026-11-20` */
      day: 'text not null',
      /** Of the key that reads. */
      fingerprint: 'text not null',
      /** When the reading began. */
      read_at: 'timestamptz not null',
      /** When each code was first found, as JSON. */
      noticed: 'text not null',
      /** Counts by code and five minutes, as JSON: mostly some kB, no entries. */
      body: 'text not null',
    },
  },
  {
    read_budgets: 'tenant, user_id, hour',
    zone_looks: 'tenant, user_id',
    zone_settings: 'tenant, user_id, zone_id',
    error_days: 'tenant, user_id, zone_id, day',
  },
  [
    'create index zone_changes_person on zone_changes (tenant, user_id, id)',
    'create index zone_changes_at on zone_changes (at)',
    'create index error_days_day on error_days (day)',
  ],
  Object.fromEntries(
    ['zone_settings', 'zone_changes'].map((table) => [
      table,
      'foreign key (tenant, user_id) references zone_looks on delete cascade',
    ]),
  ),
);
