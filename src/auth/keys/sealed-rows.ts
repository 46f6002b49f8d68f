import type { Kysely, Transaction } from 'kysely';
import type { Secret } from '../../secrets/secret.ts';
import type { Schema } from '../../store/schema.ts';
import type { KeyUse, SealedRow } from '../keyring/sealed-tables.ts';
import { type SealContext, SealError, type Sealer } from './sealing.ts';

/**
 * Opens a row without knowing whether its tenant is an organisation or a workspace; the seal knows.
 *
 * @throws SealError
 */
export async function openRow(
  sealer: Sealer,
  row: SealedRow,
): Promise<{ secret: Secret; context: SealContext }> {
  const place = { user: row.userId, kind: row.kind, version: row.version };
  const ofWorkspace: SealContext = { ...place, enterprise: '', team: row.tenant };
  const ofOrganisation: SealContext = { ...place, enterprise: row.tenant, team: '' };
  try {
    return { secret: await sealer.open(row.sealed, ofWorkspace), context: ofWorkspace };
  } catch (error) {
    if (!(error instanceof SealError) || error.code !== 'refused') throw error;
    return { secret: await sealer.open(row.sealed, ofOrganisation), context: ofOrganisation };
  }
}

const nouns: Record<KeyUse['table'], [one: string, many: string]> = {
  linked_keys: ['linked key', 'linked keys'],
  installations: ['installation', 'installations'],
  installation_users: ['Slack token of a person', 'Slack tokens of people'],
  operation_values: ['value of a variable', 'values of variables'],
  audit_signing_keys: ['key that signs audit checkpoints', 'keys that sign audit checkpoints'],
  sealed_versions: ['version record', 'version records'],
};

/** `12 linked keys`. */
export function countRows(table: KeyUse['table'], rows: number): string {
  const [one, many] = nouns[table];
  return `${rows.toLocaleString('en-US')} ${rows === 1 ? one : many}`;
}

/** `12 linked keys, 1 installation`: what is under one key; undefined = nothing. */
export function describeUse(use: readonly KeyUse[], keyId: string): string | undefined {
  const counts = use.filter((one) => one.keyId === keyId && one.rows > 0);
  return counts.length === 0 ? undefined : counts.map(({ table, rows }) => countRows(table, rows)).join(', ');
}

/** A transaction that is kept only where its step says true: where a person changed the row meanwhile, theirs stays. */
export async function undefinedIfConflict(
  db: Kysely<Schema>,
  step: (trx: Transaction<Schema>) => Promise<boolean>,
): Promise<boolean> {
  try {
    await db.transaction().execute(async (trx) => {
      if (!(await step(trx))) throw new OvertakenError();
    });
    return true;
  } catch (error) {
    if (error instanceof OvertakenError) return false;
    throw error;
  }
}

class OvertakenError extends Error {}
