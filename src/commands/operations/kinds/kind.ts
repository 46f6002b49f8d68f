import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { CdnClient } from '../../../api/cdn.ts';
import { type ApiError, isObject } from '../../../api/http/errors.ts';
import type { AuditInput } from '../../../auth/audit/audit.ts';
import type { Person } from '../../../auth/identity.ts';
import type { Policies } from '../../../auth/policy/policies.ts';
import {
  type Actor,
  countRequiredApprovals,
  type Decision,
  decideApproval,
  type Policy,
  type Right,
} from '../../../auth/policy/policy.ts';
import type { Json } from '../../../lib/canonical-json.ts';
import type { Secret } from '../../../secrets/secret.ts';
import type { Schema } from '../../../store/schema.ts';
import type { Consequences, DecisionLabels } from '../../../views/operations/describe.ts';

export type OperationRow = Selectable<Schema['operations']>;
export type EventRow = Selectable<Schema['operation_events']>;

const voidReason = z.enum([
  'changed',
  'key-gone',
  'key-replaced',
  'requester-may-not',
  'more-approvals',
  'approver-may-not',
  'overtaken',
]);
export type VoidReason = z.output<typeof voidReason>;

/** How an operation ended, or why the outcome is unknown. Never holds a secret. */
export const outcomeShape = z.object({
  /** A stable word: `done`, `not-found`; `void` with `why`. */
  word: z.string(),
  status: z.number().optional(),
  requestId: z.string().optional(),
  why: voidReason.optional(),
  reason: z.string().optional(),
  instances: z.array(z.string()).optional(),
  /** The CDN's problems with single members of the request. Foreign text: escape it. */
  fields: z.array(z.object({ field: z.string().optional(), message: z.string() })).optional(),
  /** Further facts to show: a reference; the variable as the CDN reports it after a change. */
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).optional()).optional(),
});
export type OperationOutcome = Readonly<z.output<typeof outcomeShape>>;

/** All that the ledger does not know about an operation. A new kind is a file in this folder and a line in `list.ts`. */
export interface Kind<Request> {
  /** Stored with each operation, so it never changes. */
  readonly name: string;
  readonly right: Right;
  /** Where it is not for the approvers of the settings to decide. */
  readonly approval?: ApprovalRule;
  readonly keyless?: true;
  /** Reads a stored request. @throws where the row does not hold one of this kind. */
  parse(stored: SealedRequest & { readonly setsValue: boolean }): Request;
  /** The sealed and sent form of the request. It has one spelling. @throws UserError for an impossible request. */
  request(request: Request, value?: Secret): SealedRequest;
  /** What people decide by, from the facts that were sealed with the request. @throws where they are not of this kind */
  consequences(snapshot: Json, request: Request): Consequences;
  /** What it does, in mrkdwn: `delete volume …`. */
  describe(request: Request, told: Told): string;
  /** How it ended, in mrkdwn; undefined = the common words say it. */
  describeOutcome?(outcome: OperationOutcome, request: Request, told: Told): string | undefined;
  audit(request: Request, told: Told): AuditInput['detail'];
  /** Sends the sealed strings. @throws ApiError */
  send(execution: Execution): Promise<Settlement>;
  /** The word for an error in which the CDN refused it; `refused` by default. */
  nameRefusal?(error: ApiError): string | undefined;
}

/** The stored, sealed and sent form of a request: the very strings. A value is sealed separately (`values.ts`). */
export type SealedRequest = Pick<OperationRow, 'method' | 'path' | 'body'>;

export interface Told {
  /** The target's name, as the CDN told it. Foreign text. */
  readonly name: string | undefined;
  readonly snapshot: Json;
}

/**
 * Such a request is void once the settings are not the ones it was asked for, cannot be asked for again by a button, and
 * goes to each approver, also where there is a channel for approvals.
 */
interface ApprovalRule {
  decide(policy: Policy, actor: Actor): Decision;
  count(policy: Policy): number;
  /** Milliseconds until a request expires. */
  readonly expiresAfterMs: number;
  readonly labels: DecisionLabels;
}

/** The sealed strings, and what a kind may send them with. */
export interface Execution extends Pick<OperationRow, 'path' | 'body'> {
  readonly value: Secret | undefined;
  readonly targetName: string | undefined;
  readonly requester: Person;
  readonly approvedBy: readonly string[];
  readonly policyVersion: number;
  /** With the requester's key. @throws for a kind that is `keyless`. */
  readonly cdn: () => CdnClient;
  readonly policies: Pick<Policies, 'save' | 'version'>;
}

export interface Settlement {
  readonly state: 'succeeded' | 'failed' | 'unknown';
  readonly outcome: OperationOutcome;
}

export type Kinds = ReadonlyMap<string, Kind<unknown>>;

export function indexKinds(kinds: readonly Kind<unknown>[]): Kinds {
  return new Map(kinds.map((kind) => [kind.name, kind]));
}

/** Of a row that names no kind: it can only be voided. */
const unreadable: Kind<unknown> = {
  name: 'unreadable',
  right: 'destroy',
  parse: refuse,
  request: refuse,
  consequences: refuse,
  describe: refuse,
  audit: refuse,
  send: refuse,
};

function refuse(): never {
  throw new Error('this row does not hold a request');
}

/** Whether a person may approve a request of this kind; the ledger checks that it is not their own. */
export function decideApprovalOf({ approval }: Kind<unknown>, policy: Policy, actor: Actor): Decision {
  return approval ? approval.decide(policy, actor) : decideApproval(policy, actor);
}

export function countApprovals({ approval, right }: Kind<unknown>, policy: Policy): number {
  return approval ? approval.count(policy) : countRequiredApprovals(policy, right);
}

export function findKind(kinds: Kinds, name: string): Kind<unknown> {
  return kinds.get(name) ?? unreadable;
}

/** The operation that an undo takes back, by the facts that are sealed with the undo. */
export function findUndone(snapshot: Json): string | undefined {
  const id = isObject(snapshot) ? snapshot['undoOf'] : undefined;
  return typeof id === 'string' ? id : undefined;
}
