import type { AuditCheckpoints, AuditRecords, AuditSigningKeys, Policies } from './tables/audit.ts';
import type { DigestBooks, DigestRuns, Digests } from './tables/digests.ts';
import type { Exports } from './tables/exports.ts';
import type {
  Installations,
  InstallationUsers,
  KeyLinks,
  KeyringKeys,
  KeyringMembers,
  LinkedKeys,
  SealedVersions,
} from './tables/keys.ts';
import type { OperationEvents, OperationsTable, OperationValues } from './tables/operations.ts';
import type { Deliveries, SlackPace } from './tables/slack.ts';

/** The tables as the queries see them; `migrations.ts` makes them. */
export interface Schema {
  linked_keys: LinkedKeys;
  installations: Installations;
  installation_users: InstallationUsers;
  deliveries: Deliveries;
  policies: Policies;
  key_links: KeyLinks;
  sealed_versions: SealedVersions;
  keyring_keys: KeyringKeys;
  keyring_members: KeyringMembers;
  audit_records: AuditRecords;
  audit_checkpoints: AuditCheckpoints;
  audit_signing_keys: AuditSigningKeys;
  operations: OperationsTable;
  operation_events: OperationEvents;
  operation_values: OperationValues;
  exports: Exports;
  digests: Digests;
  digest_runs: DigestRuns;
  digest_books: DigestBooks;
  slack_pace: SlackPace;
}
