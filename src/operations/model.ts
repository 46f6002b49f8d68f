import type { Selectable } from 'kysely';
import type { Person } from '../auth/identity.ts';
import type { Actor, Decision, Policy, Right } from '../auth/policy/policy.ts';
import type { Json } from '../lib/canonical-json.ts';
import { minuteMs } from '../lib/time.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Schema } from '../store/schema.ts';

export type OperationRow = Selectable<Schema['operations']>;
export type EventRow = Selectable<Schema['operation_events']>;

/** The operations that write to the CDN. */
export type OperationKind = 'volume-delete' | 'variable-update';

export type OperationState =
  /** Waits for approvals. */
  | 'proposed'
  /** Waits for its job. */
  | 'approved'
  /** Its one request is, or may be, on the wire. */
  | 'executing'
  | 'succeeded'
  | 'failed'
  /** The request was sent, or may have been, and no clear answer came back: only a person decides what happened. */
  | 'unknown'
  | 'denied'
  | 'expired'
  | 'cancelled';

/** The states that each state leads to. */
export const transitionsFrom: Readonly<Record<OperationState, readonly OperationState[]>> = {
  // To `failed` only as `void`: the stored request is not the sealed one, or is no longer allowed.
  proposed: ['approved', 'denied', 'expired', 'cancelled', 'failed'],
  approved: ['executing', 'expired', 'cancelled', 'failed'],
  executing: ['succeeded', 'failed', 'unknown'],
  unknown: ['succeeded', 'failed'],
  succeeded: [],
  failed: [],
  denied: [],
  expired: [],
  cancelled: [],
};

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

/** The same as people may see it: whether a value is set, not which. */
export type ShownRequest =
  | Extract<OperationRequest, { kind: 'volume-delete' }>
  | (Omit<Extract<OperationRequest, { kind: 'variable-update' }>, 'value'> & { readonly setsValue: boolean });

export interface Approval {
  readonly by: string;
  readonly at: Date;
}

/**
 * Why an operation does not run as it is. `changed`: the stored request is not the sealed one. `key-gone`: the key that
 * sealed it is no longer in the keyring. `requester-may-not`: role, key or the channel's cap no longer allow it.
 * `more-approvals`: the settings ask for more now. `approver-may-not`: an approver whose approval counted may no longer
 * approve.
 */
export const voidReasons = [
  'changed',
  'key-gone',
  'requester-may-not',
  'more-approvals',
  'approver-may-not',
] as const;
export type VoidReason = (typeof voidReasons)[number];

/** How an operation ended, or why the outcome is unknown. Never holds a secret. */
export interface OperationOutcome {
  /** A stable word: `done`, `not-found`, `timeout`; `void` with `why`. */
  readonly word: string;
  readonly status?: number | undefined;
  /** The CDN's, to quote to its support. */
  readonly requestId?: string | undefined;
  readonly why?: VoidReason | undefined;
  /** The approver's reason for a denial. Typed by a person: escape it. */
  readonly reason?: string | undefined;
  /** Further facts to show: a count of instances. */
  readonly facts?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
}

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
  readonly policyVersion: number;
  readonly approvalsNeeded: number;
  /** Oldest first. */
  readonly approvals: readonly Approval[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** SHA-256 over everything above that people decide by, hexadecimal. */
  readonly seal: string;
  /** Who moved it to its state and when; `system` = a job or the clock. */
  readonly movedBy: string;
  readonly movedAt: Date;
  readonly outcome: OperationOutcome | undefined;
  /** User ids of those who could approve it when it was proposed: named in the card, and written to without a channel. */
  readonly approvers: readonly string[];
  /** The operation that this one retries. */
  readonly attemptOf: string | undefined;
  /** The operation that retries this one. */
  readonly triedAgainAs: string | undefined;
}

export interface Proposal {
  readonly requester: Person;
  readonly channelId: string | undefined;
  readonly request: OperationRequest;
  readonly reason: string | undefined;
  /** The consequences as data. They are sealed, so approvers read what the requester saw. */
  readonly snapshot: Json;
  /** Read afresh: decides approvals, expiry and version. */
  readonly policy: Policy;
  readonly approvers: readonly string[];
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

const undoMs = 30 * minuteMs;

/** Whether a button may still restore the value that a variable had before. */
export function canUndo(operation: Operation, now: Date): boolean {
  const { state, request, movedAt } = operation;
  if (state !== 'succeeded' || request.kind !== 'variable-update' || !request.setsValue) return false;
  return now.getTime() - movedAt.getTime() < undoMs;
}
