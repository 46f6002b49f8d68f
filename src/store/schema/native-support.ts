import { defineTables } from './define-tables.ts';

/** Slack's charts and tables: a workspace, or its plan, may refuse them. */
export const nativeSupportTables = defineTables(
  {
    native_support: {
      tenant: 'text not null',
      /** `chat.postMessage`, or `response_url`. */
      method: 'text not null',
      /** `chart` or `table`. */
      kind: 'text not null',
      taken: 'boolean not null',
      seen_at: 'timestamptz not null',
    },
  },
  ['alter table native_support add primary key (tenant, method, kind)'],
);
