import { createHash } from 'node:crypto';
import type { Json } from './model.ts';

/**
 * The one spelling of a value in JSON: members in order of their names, nothing between. Whatever order a value came
 * in, the same value gives the same text, and two different ones never do.
 *
 * @throws Error for what JSON does not hold: a number that is not finite, undefined in a list.
 */
export function canonicalJson(value: Json): string {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new Error('A number here has to be finite.');
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) throw new Error('Only what JSON holds can be sealed.');
    return text;
  }
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => (member as unknown) !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

/** What people decide by, as it is stored. A change of any of it makes another seal. */
export interface Sealed {
  readonly id: string;
  readonly tenant: string;
  readonly kind: string;
  readonly enterprise_id: string | null;
  readonly team_id: string;
  readonly user_id: string;
  readonly channel_id: string | null;
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
  readonly value_mac: string | null;
  readonly reason: string | null;
  readonly snapshot: string;
  readonly policy_version: number;
  readonly approvals_needed: number;
  readonly attempt_of: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** SHA-256 over the canonical operation, hexadecimal. */
export function computeSeal(operation: Sealed): string {
  const canonical = canonicalJson({
    format: 'cdn-chatops operation v1',
    id: operation.id,
    tenant: operation.tenant,
    kind: operation.kind,
    requester: {
      enterprise: operation.enterprise_id,
      team: operation.team_id,
      user: operation.user_id,
      channel: operation.channel_id,
    },
    request: {
      method: operation.method,
      path: operation.path,
      body: operation.body,
      value: operation.value_mac,
    },
    reason: operation.reason,
    snapshot: operation.snapshot,
    policy: { version: operation.policy_version, approvals: operation.approvals_needed },
    attemptOf: operation.attempt_of,
    created: operation.created_at.toISOString(),
    expires: operation.expires_at.toISOString(),
  });
  return createHash('sha256').update(canonical).digest('hex');
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
