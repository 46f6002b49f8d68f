import { defineTables } from './define-tables.ts';

/** Indexes for what runs for every message, and for the retention of tables that grow with time. */
export const scaleIndexes = defineTables({}, [
  // Those that wait for their moment: a pause that Slack asks for voids them.
  'create index outbox_slots on outbox (tenant) where slot is not null',
  'create index digests_deleted_at on digests (deleted_at) where deleted_at is not null',
  'create index watches_deleted_at on watches (deleted_at) where deleted_at is not null',
  'create index digest_runs_due on digest_runs (due)',
  'create index watch_incidents_closed_at on watch_incidents (closed_at)',
  'create index step_runs_begun_at on step_runs (begun_at)',
  'create index pending_policies_expires_at on pending_policies (expires_at)',
  'create index exports_ended_at on exports (ended_at)',
  'create index exports_with_files on exports (tenant) where files_deleted_at is null',
]);
