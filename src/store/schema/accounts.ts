import { defineTables } from './define-tables.ts';

/** Reading of CDN accounts by jobs. */
export const accountTables = defineTables(
  {
    /** Requests that jobs sent for a person's account, by hour. */
    read_budgets: {
      tenant: 'text not null',
      user_id: 'text not null',
      /** The moment at which it began. */
      hour: 'timestamptz not null',
      requests: 'integer not null',
    },
  },
  ['alter table read_budgets add primary key (tenant, user_id, hour)'],
);
