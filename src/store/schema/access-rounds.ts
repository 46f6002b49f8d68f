import { defineTables } from './define-tables.ts';

/** How far the comparison of people and installations with Slack came. No secrets. */
export const accessRoundTables = defineTables(
  {
    /** One row. */
    access_rounds: {
      /** `deployment`: a round goes through all tenants. */
      tenant: 'text primary key',
      begun_at: 'timestamptz not null',
      /** The last that was asked, in their order; null = the round is over. `after_user` is empty for an installation. */
      after_tenant: 'text',
      after_user: 'text',
    },
  },
  [],
);
