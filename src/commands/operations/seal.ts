import { createHash } from 'node:crypto';
import { z } from 'zod';
import { volumePath } from '../../api/apps.ts';
import { variableBody, variablePath } from '../../api/variables.ts';
import { SealError, type Sealer } from '../../auth/keys/sealing.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { Secret } from '../../secrets/secret.ts';
import type { Approval, OperationKind, OperationRequest, ShownRequest } from './model.ts';
import type { EventRow, OperationRow } from './rows.ts';

/** A request as it is stored, sealed and sent: the very strings. The value of a variable is sealed apart (`values.ts`). */
type SealedRequest = Pick<OperationRow, 'method' | 'path' | 'body'>;

/** @throws UserError for ids that cannot be ids, or a change that changes nothing. */
export function toSealedRequest(request: OperationRequest): SealedRequest {
  switch (request.kind) {
    case 'volume-delete':
      return { method: 'DELETE', path: volumePath(request.appId, request.volumeId), body: null };
    case 'variable-update':
      return {
        method: 'POST',
        path: variablePath(request.scriptId, request.variableId),
        body: variableBody(request),
      };
  }
}

const variableBodies = z.object({ Required: z.boolean().optional() });

/**
 * The request of a row, to be shown; undefined where the row holds no request of its kind. A request has one spelling:
 * one that is written differently was not sealed by this code.
 */
export function readRequest(
  row: SealedRequest & Pick<OperationRow, 'kind' | 'value_mac'>,
): ShownRequest | undefined {
  try {
    const shown = parseRequest(row);
    const value = row.value_mac === null ? undefined : new Secret('');
    const request = shown?.kind === 'variable-update' ? { ...shown, value } : shown;
    const written = request && toSealedRequest(request);
    const isSame = written?.method === row.method && written.path === row.path && written.body === row.body;
    return isSame ? shown : undefined;
  } catch {
    return undefined;
  }
}

function parseRequest(row: Parameters<typeof readRequest>[0]): ShownRequest | undefined {
  const { kind, path, body, value_mac: valueMac } = row;
  // Both paths name their ids in the same places.
  const [, , , owner = '', , target = ''] = path.split('/').map(decodeURIComponent);
  if (kind === 'volume-delete') return { kind, appId: owner, volumeId: target };
  if (kind !== 'variable-update') return undefined;
  const required = readVariableBody(body);
  return { kind, scriptId: owner, variableId: target, required, setsValue: valueMac !== null };
}

/** Whether a sealed change makes the variable required; undefined = it leaves that as it is. */
export function readVariableBody(body: string | null): boolean | undefined {
  return variableBodies.parse(JSON.parse(body ?? '')).Required;
}

/** Shown for a row that cannot be read any more: the next press voids it. */
export function unreadableRequest(kind: OperationKind): ShownRequest {
  return kind === 'volume-delete'
    ? { kind, appId: '?', volumeId: '?' }
    : { kind, scriptId: '?', variableId: '?', setsValue: false };
}

/** The columns of `operations` that people decide by. */
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
export function computeSeal(row: Pick<OperationRow, (typeof sealedColumns)[number]>): string {
  const columns = sealedColumns.map((column) => {
    const value = row[column];
    return [column, value instanceof Date ? value.toISOString() : value] as const;
  });
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
export function findSealProblem(sealer: Sealer, row: OperationRow): 'changed' | 'key-gone' | undefined {
  return ifGenuine(
    () =>
      computeSeal(row) === row.seal &&
      readRequest(row) !== undefined &&
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
