import { createHash } from 'node:crypto';
import { SealError, type Sealer } from '../../auth/keys/sealing.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { EventRow, OperationRow } from './kinds/kind.ts';
import type { Approval, Operation } from './model.ts';

const sealedColumns = [
  'id',
  'tenant',
  'kind',
  'enterprise_id',
  'team_id',
  'user_id',
  'channel_id',
  'method',
  'path',
  'body',
  'value_mac',
  'cdn_key',
  'reason',
  'snapshot',
  'policy_version',
  'approvals_needed',
  'attempt_of',
  'created_at',
  'expires_at',
] as const satisfies (keyof OperationRow)[];

/** SHA-256 over everything that people decide by, hexadecimal. */
export function computeSeal(row: Pick<OperationRow, (typeof sealedColumns)[number] | 'via'>): string {
  const columns: (readonly [string, string | number | null])[] = sealedColumns.map((column) => {
    const value = row[column];
    return [column, value instanceof Date ? value.toISOString() : value];
  });
  if (row.via !== null) columns.push(['via', row.via]);
  const canonical = canonicalJson({ format: 'cdn-chatops operation v1', columns });
  return createHash('sha256').update(canonical).digest('hex');
}

type Sealed = Pick<OperationRow, 'id' | 'seal'>;

/** The signed parts of a seal, or of an approval: without the keyring, the database is not enough to make one. */
export function collectSignedParts({ id, seal }: Sealed, approval?: Approval): string[] {
  if (!approval) return ['cdn-chatops operation v1', id, seal];
  return ['cdn-chatops approval v1', id, seal, approval.by, approval.at.toISOString()];
}

/** Why a stored request is not the one that was sealed; undefined = it is. */
export function findSealProblem(
  sealer: Sealer,
  { row, request }: Operation,
): 'changed' | 'key-gone' | undefined {
  return ifGenuine(
    () =>
      computeSeal(row) === row.seal &&
      request !== undefined &&
      sealer.verify(collectSignedParts(row), { keyId: row.key_id, mac: row.mac }),
  );
}

/** Why an approval in the log was not given by this code; undefined = it was. */
export function findApprovalProblem(
  sealer: Sealer,
  row: Sealed,
  { actor: by, at, key_id: keyId, mac }: EventRow,
): 'changed' | 'key-gone' | undefined {
  if (keyId === null || mac === null) return 'changed';
  return ifGenuine(() => sealer.verify(collectSignedParts(row, { by, at }), { keyId, mac }));
}

function ifGenuine(verify: () => boolean): 'changed' | 'key-gone' | undefined {
  try {
    return verify() ? undefined : 'changed';
  } catch (error) {
    if (error instanceof SealError && error.code === 'unknown_key') return 'key-gone';
    throw error;
  }
}
