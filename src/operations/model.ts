import type { Person } from '../auth/identity.ts';
import type { Actor, Policy, Right } from '../auth/policy/policy.ts';
import { minuteMs } from '../lib/time.ts';
import type { Secret } from '../secrets/secret.ts';

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
  /** Sent, or perhaps sent, and nobody knows the outcome: only a person says. */
  | 'unknown'
  | 'denied'
  | 'expired'
  | 'cancelled';

/** Where each state leads; `[]` = for good. */
export const transitionsFrom: Readonly<Record<OperationState, readonly OperationState[]>> = {
  // To `failed` only as `void`: what was asked for is no longer what is stored, or no longer allowed.
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

/** The class of right that somebody needs to ask for it. */
export const requiredRight: Readonly<Record<OperationKind, Right>> = {
  'volume-delete': 'destroy',
  'variable-update': 'change',
};

/** What is asked of the CDN. A member of a variable that is left out stays as it is. */
export type OperationRequest =
  | { readonly kind: 'volume-delete'; readonly appId: string; readonly volumeId: string }
  | {
      readonly kind: 'variable-update';
      readonly scriptId: string;
      readonly variableId: string;
      readonly required?: boolean | undefined;
      readonly value?: Secret | undefined;
    };

/** The same as people may see it: of a value only whether one goes along. */
export type ShownRequest =
  | Extract<OperationRequest, { kind: 'volume-delete' }>
  | (Omit<Extract<OperationRequest, { kind: 'variable-update' }>, 'value'> & { readonly setsValue: boolean });

export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };

/** A message about an operation, to be updated in place. */
export interface MessageReference {
  readonly role: 'requester' | 'approval';
  readonly channel: string;
  readonly ts: string;
}

export interface Approval {
  readonly by: string;
  readonly at: Date;
}

/**
 * Why an operation that was asked for does not run as it is. `changed`: what is stored is not what was sealed.
 * `key-gone`: the key that sealed it is no longer in the keyring. `requester-may-not`: role, key or the channel's cap
 * no longer allow it. `more-approvals`: the settings ask for more now. `approver-may-not`: somebody whose approval
 * counted may no longer approve.
 */
export const voidReasons = [
  'changed',
  'key-gone',
  'requester-may-not',
  'more-approvals',
  'approver-may-not',
] as const;
export type VoidReason = (typeof voidReasons)[number];

/** How it ended, or why nobody knows. Never a secret. */
export interface OperationOutcome {
  /** A stable word: `done`, `not-found`, `timeout`; `void` with `why`. */
  readonly word: string;
  readonly status?: number | undefined;
  /** The CDN's, to quote to its support. */
  readonly requestId?: string | undefined;
  /** Of a `void`. */
  readonly why?: VoidReason | undefined;
  /** What an approver gave as the reason of a denial. Typed by a person: escape it. */
  readonly reason?: string | undefined;
  /** Further facts to show: a count of instances. */
  readonly facts?: Readonly<Record<string, string | number | boolean>> | undefined;
}

/** One operation as the ledger has it. */
export interface Operation {
  /** Sixteen letters and digits that nobody can guess; may stand in a button. */
  readonly id: string;
  readonly tenant: string;
  readonly kind: OperationKind;
  readonly state: OperationState;
  readonly requester: Person;
  /** Where it was asked for; undefined = in the Home tab. */
  readonly channelId: string | undefined;
  readonly request: ShownRequest;
  /** Typed by a person: escape it. */
  readonly reason: string | undefined;
  /** What was shown when it was asked for. */
  readonly snapshot: Json;
  readonly policyVersion: number;
  readonly approvalsNeeded: number;
  /** Those that were given, oldest first. */
  readonly approvals: readonly Approval[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** SHA-256 over everything above that people decide by, hexadecimal. */
  readonly seal: string;
  /** Who moved it to its state and when; `system` = nobody pressed anything. */
  readonly movedBy: string;
  readonly movedAt: Date;
  readonly outcome: OperationOutcome | undefined;
  readonly messages: readonly MessageReference[];
  /** The operation that this one tries again. */
  readonly attemptOf: string | undefined;
  /** The one that tries this one again. */
  readonly triedAgainAs: string | undefined;
}

/** One line of an operation's log. */
export interface OperationEvent {
  readonly seq: number;
  readonly at: Date;
  readonly actor: string;
  /** `approval`: one of several, it goes on waiting. Else the state it moved to. */
  readonly what: OperationState | 'approval';
  readonly outcome: OperationOutcome | undefined;
}

/** What somebody asks for, after it was decided that they may. */
export interface Proposal {
  readonly requester: Person;
  readonly channelId: string | undefined;
  readonly request: OperationRequest;
  readonly reason: string | undefined;
  /** What was shown to them, as data: it is sealed, so what approvers read is what was there. */
  readonly snapshot: Json;
  /** The policy it was decided by, read afresh: gives approvals, expiry and version. */
  readonly policy: Policy;
}

/** What is known of the people about an operation now, looked up before (`operations-facts.ts`). */
export interface RequesterContext {
  readonly policy: Policy;
  readonly requester: Actor;
  /** Those who have approved already. */
  readonly approvers: readonly Actor[];
}

/** The same with whoever presses. */
export interface DecisionContext extends RequesterContext {
  readonly clicker: Actor;
}

const undoMs = 30 * minuteMs;

/** Whether a button may still put back the value that a variable had before. */
export function canUndo(operation: Operation, now: Date): boolean {
  const { state, request, movedAt } = operation;
  return (
    state === 'succeeded' &&
    request.kind === 'variable-update' &&
    request.setsValue &&
    now.getTime() - movedAt.getTime() < undoMs
  );
}
