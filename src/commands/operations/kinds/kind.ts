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
import {
  type Consequences,
  type DecisionLabels,
  type VoidReason,
  type VolumeShown,
  voidReasons,
} from '../../../views/operations/describe.ts';

export type OperationRow = Selectable<Schema['operations']>;
export type EventRow = Selectable<Schema['operation_events']>;

const voidReason = z.enum(Object.keys(voidReasons) as VoidReason[]);
export const outcomeShape = z.object({
  /** A stable word: `done`, `not-found`; `void` with `why`. */
  word: z.string(),
  status: z.number().optional(),
  requestId: z.string().optional(),
  why: voidReason.optional(),
  reason: z.string().optional(),
  instances: z.array(z.string()).optional(),
  /** Foreign text: escape it. */
  fields: z.array(z.object({ field: z.string().optional(), message: z.string() })).optional(),
  /** A reference; the variable as the CDN reports it. */
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).optional()).optional(),
});
export type OperationOutcome = Readonly<z.output<typeof outcomeShape>>;

/** All that the ledger does not know about an operation. A new kind is a file in this folder and a line in `list.ts`. */
export interface Kind<Request> {
  readonly name: string;
  readonly right: Right;
  /** Where it is not for the approvers of the settings to decide. */
  readonly approval?: ApprovalRule;
  readonly keyless?: true;
  /** @throws where the row does not hold a request of this kind. */
  parse(stored: SealedRequest & { readonly setsValue: boolean }): Request;
  /** The sealed and sent form, in one spelling. @throws UserError */
  request(request: Request, value?: Secret): SealedRequest;
  /** What people decide by. @throws where the facts are not of this kind */
  consequences(snapshot: Json, request: Request): Consequences;
  /** In mrkdwn: `delete volume …`. */
  describe(request: Request, told: Told): string;
  /** In mrkdwn; undefined = the common words say it. */
  describeOutcome?(outcome: OperationOutcome, request: Request, told: Told): string | undefined;
  /** The command that opens its form again; undefined where the same is never asked for twice. */
  again?(request: Request): string;
  /** What a person may have seen in the CDN's panel where the outcome is unknown, and where to look. */
  readonly check: Readonly<Record<'done' | 'notDone' | 'look', string>>;
  audit(request: Request, told: Told): AuditInput['detail'];
  /** Sends the sealed strings. @throws ApiError */
  send(execution: Execution): Promise<Settlement>;
  /** The word for a refusal of the CDN. */
  nameRefusal?(error: ApiError): string | undefined;
}

/** The stored, sealed and sent form of a request: the very strings. A value is sealed separately (`values.ts`). */
export type SealedRequest = Pick<OperationRow, 'method' | 'path' | 'body'>;

export interface Told {
  /** Foreign text. */
  readonly name: string | undefined;
  readonly snapshot: Json;
}

/** Such a request is void once the settings are others, and goes to each approver, also where there is a channel. */
interface ApprovalRule {
  decide(policy: Policy, actor: Actor): Decision;
  count(policy: Policy): number;
  readonly expiresAfterMs: number;
  readonly labels: DecisionLabels;
}

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

const unreadable: Kind<unknown> = {
  name: 'unreadable',
  right: 'destroy',
  parse: refuse,
  request: refuse,
  consequences: refuse,
  describe: refuse,
  check: { done: '', notDone: '', look: '' },
  audit: refuse,
  send: refuse,
};

function refuse(): never {
  throw new Error('this row does not hold a request');
}

export function decideApprovalOf({ approval }: Kind<unknown>, policy: Policy, actor: Actor): Decision {
  return approval ? approval.decide(policy, actor) : decideApproval(policy, actor);
}

export function countApprovals({ approval, right }: Kind<unknown>, policy: Policy): number {
  return approval ? approval.count(policy) : countRequiredApprovals(policy, right);
}

export function findKind(kinds: Kinds, name: string): Kind<unknown> {
  return kinds.get(name) ?? unreadable;
}

/** The zones that were shown. @throws where the stored facts are something else */
export function readShown(kept: unknown): VolumeShown {
  if (isObject(kept) && Array.isArray(kept['zones'])) return kept as unknown as VolumeShown;
  throw new Error('these are no facts about zones');
}

export function findUndone(snapshot: Json): string | undefined {
  const id = isObject(snapshot) ? snapshot['undoOf'] : undefined;
  return typeof id === 'string' ? id : undefined;
}
