import { isObject } from '../../api/http/errors.ts';
import type { Person } from '../../auth/identity.ts';
import type { Actor, Decision, Policy, Right } from '../../auth/policy/policy.ts';
import type { Json } from '../../lib/canonical-json.ts';
import { minuteMs } from '../../lib/time.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { OperationOutcome, VoidReason } from './rows.ts';

/** The states, and those that each leads to. */
const transitions = {
  /** Waits for approvals. Fails only as `void`: the stored request is not the sealed one, or is no longer allowed. */
  proposed: ['approved', 'denied', 'expired', 'cancelled', 'failed'],
  /** Waits for its job. */
  approved: ['executing', 'expired', 'cancelled', 'failed'],
  /** Its one request is, or may be, on the wire. */
  executing: ['succeeded', 'failed', 'unknown'],
  /** The request was sent, or may have been, and no clear answer came back: only a person decides what happened. */
  unknown: ['succeeded', 'failed'],
  succeeded: [],
  failed: [],
  denied: [],
  expired: [],
  cancelled: [],
} as const;
export type OperationState = keyof typeof transitions;
export const transitionsFrom: Readonly<Record<OperationState, readonly OperationState[]>> = transitions;

/** The right that the requester needs. */
export const requiredRight: Readonly<Record<OperationKind, Right>> = {
  'volume-delete': 'destroy',
  'variable-update': 'change',
};

/** A request to the CDN. A member of a variable that is left out stays as it is. */
export type OperationRequest =
  | { readonly kind: 'volume-delete'; readonly appId: string; readonly volumeId: string }
  | {
      readonly kind: 'variable-update';
      readonly scriptId: string;
      readonly variableId: string;
      readonly required?: boolean | undefined;
      readonly value?: Secret | undefined;
    };

/** The operations that write to the CDN. */
export type OperationKind = OperationRequest['kind'];

/** The same as people may see it: whether a value is set, not which. */
export type ShownRequest =
  | Extract<OperationRequest, { kind: 'volume-delete' }>
  | (Omit<Extract<OperationRequest, { kind: 'variable-update' }>, 'value'> & { readonly setsValue: boolean });

export type Approval = { readonly by: string; readonly at: Date };

export interface Operation {
  /** Sixteen random letters and digits; may stand in a button. */
  readonly id: string;
  readonly tenant: string;
  readonly kind: OperationKind;
  readonly state: OperationState;
  readonly requester: Person;
  /** The channel it was proposed in; undefined = in the Home tab. */
  readonly channelId: string | undefined;
  readonly request: ShownRequest;
  /** Typed by a person: escape it. */
  readonly reason: string | undefined;
  /** The consequences as the requester saw them. */
  readonly snapshot: Json;
  /** Tells the requester's CDN key from others. */
  readonly keyFingerprint: string | undefined;
  readonly policyVersion: number;
  readonly approvalsNeeded: number;
  /** Oldest first. */
  readonly approvals: readonly Approval[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** SHA-256 over everything above that people decide by, hexadecimal. */
  readonly seal: string;
  /** The user who caused its state, and the time; `system` = a job or the clock. */
  readonly movedBy: string;
  readonly movedAt: Date;
  readonly outcome: OperationOutcome | undefined;
  /** User ids of those who could approve it when it was proposed: named in the card, and written to without a channel. */
  readonly approvers: readonly string[];
  readonly attemptOf: string | undefined;
  /** The operation that retries this one. */
  readonly triedAgainAs: string | undefined;
}

export interface Proposal
  extends Pick<Operation, 'requester' | 'channelId' | 'reason' | 'snapshot' | 'approvers'> {
  readonly request: OperationRequest;
  /** Read afresh: decides approvals, expiry and version. */
  readonly policy: Policy;
  /** The run of a step of Workflow Builder that asks for it and ends with it. */
  readonly stepRun?: string | undefined;
}

/** The policy and the rights of the people involved, as they are now. */
export interface RequesterContext {
  readonly policy: Policy;
  readonly requester: Actor;
  /** Those who have approved so far. */
  readonly approvers: readonly Actor[];
}

/** The same with the person who presses. */
export interface DecisionContext extends RequesterContext {
  readonly clicker: Actor;
}

type About<Kind extends string, Facts = unknown> = Facts & {
  readonly kind: Kind;
  readonly operation: Operation;
};

/** The answer to a press, with the operation as it is after it. */
export type Answer =
  | About<'approved' | 'denied' | 'cancelled' | 'confirmed' | 'proposed'>
  /** No such operation in this organisation or workspace. */
  | { readonly kind: 'not-found' }
  /** Another press came first. */
  | About<'already'>
  | About<'expired'>
  /** This press voided it. */
  | About<'void', { readonly why: VoidReason }>
  | About<'not-allowed', { readonly decision: Decision }>
  /** Requesters do not decide on their own requests, admins neither. */
  | About<'own-request', { readonly press: 'approve' | 'deny' }>
  | About<'not-requester', { readonly press: 'cancel' | 'retry' }>
  /** This approval was counted before. */
  | About<'twice'>
  /** With the operation that retries it. */
  | About<'already-retried'>
  /** Wrong state for a retry, or its value is no longer kept. */
  | About<'not-now', { readonly why: 'state' | 'value-gone' }>;

/** A variable's name as the CDN gave it, in the answer to this change or to an earlier one. Escape it. */
export function findVariableName({ outcome, snapshot }: Pick<Operation, 'outcome' | 'snapshot'>) {
  const known = isObject(snapshot) ? snapshot['name'] : undefined;
  const name = outcome?.facts?.['name'] ?? known;
  return typeof name === 'string' ? name : undefined;
}

const undoMs = 30 * minuteMs;

/** Whether a button may still restore the value that a variable had before. */
export function canUndo(operation: Operation, now: Date): boolean {
  const { state, request, movedAt } = operation;
  if (state !== 'succeeded' || request.kind !== 'variable-update' || !request.setsValue) return false;
  return now.getTime() - movedAt.getTime() < undoMs;
}
