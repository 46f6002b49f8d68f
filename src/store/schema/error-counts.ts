import { defineTables } from './define-tables.ts';

/** What jobs have counted in the logs of zones. */
export const errorCountTables = defineTables(
  {
    /** Origin errors of a zone, as jobs of one person count them. Moved by compare-and-set. */
    error_counts: {
      tenant: 'text not null',
      user_id: 'text not null',
      zone_id: 'text not null',
      /** Of the key that reads. */
      fingerprint: 'text not null',
      revision: 'integer not null',
      looked_at: 'timestamptz not null',
      /** `StoredCounts` as JSON, mostly some kB: no entries, but hashes of the ids of the newest. */
      body: 'text not null',
    },
  },
  ['alter table error_counts add primary key (tenant, user_id, zone_id)'],
);
