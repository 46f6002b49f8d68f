import { defineTables } from './define-tables.ts';

/** For readiness and metrics. */
export const healthTables = defineTables({}, [
  // A value sealed under the key, which a process opens to show that it can.
  'alter table keyring_keys add column canary text',
  // Beside the operations that move, those that a person has to look at: the rest of the table only grows.
  `create index operations_open on operations (state)
    where state in ('proposed', 'approved', 'executing', 'unknown')`,
]);
