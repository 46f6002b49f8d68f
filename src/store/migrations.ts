import type { Migration, MigrationProvider } from 'kysely/migration';
import { keysInstallationsDeliveries } from './migrations/0001-keys-installations-deliveries.ts';
import { custodyAndAudit } from './migrations/0002-custody-and-audit.ts';
import { policies } from './migrations/0003-policies.ts';
import { keyLinks } from './migrations/0004-key-links.ts';
import { operations } from './migrations/0005-operations.ts';
import { auditCheckpoints } from './migrations/0006-audit-checkpoints.ts';
import { exports } from './migrations/0007-exports.ts';
import { digests } from './migrations/0008-digests.ts';
import { exportEndings } from './migrations/0009-export-endings.ts';
import { digestBooks } from './migrations/0010-digest-books.ts';

/**
 * Every change of the tables, in the order of their names. A migration that has been released is never edited:
 * the next change is a new file and a new line below. Going back is restoring a backup, so there is no `down`.
 */
const migrations: Record<string, Migration> = {
  '0001-keys-installations-deliveries': keysInstallationsDeliveries,
  '0002-custody-and-audit': custodyAndAudit,
  '0003-policies': policies,
  '0004-key-links': keyLinks,
  '0005-operations': operations,
  '0006-audit-checkpoints': auditCheckpoints,
  '0007-exports': exports,
  '0008-digests': digests,
  '0009-export-endings': exportEndings,
  '0010-digest-books': digestBooks,
};

export const migrationProvider: MigrationProvider = {
  getMigrations: async () => migrations,
};
