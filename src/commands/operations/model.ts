import type { Person } from '../../auth/identity.ts';
import type { Actor, Decision, Policy } from '../../auth/policy/policy.ts';
import type { Json } from '../../lib/canonical-json.ts';
import { minuteMs } from '../../lib/time.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { ShownAnswer } from '../../views/operations/answers.ts';
import type { ShownOperation } from '../../views/operations/describe.ts';
import type { Kind, OperationOutcome } from './kinds/kind.ts';

const transitions = {
  /** Waits for approvals. Fails only as `void`: the stored request is not the sealed one, or is no longer allowed. */
  proposed: ['approved', 'denied', 'expired', 'cancelled', 'failed'],
  approved: ['executing', 'expired', 'cancelled', 'failed'],
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

export type Approval = { readonly by: string; readonly at: Date };

export interface Operation extends ShownOperation {
  readonly tenant: string;
  readonly kind: string;
  readonly requester: Person;
  /** The channel it was proposed in; undefined = in the Home tab. */
  readonly channelId: string | undefined;
  /** As its kind reads it; undefined for a row that cannot be read any more, which the next press voids. */
  readonly request: unknown;
  /** Whether a secret value goes with it: it can be undone while an earlier value is kept. */
  readonly setsValue: boolean;
  readonly snapshot: Json;
  readonly policyVersion: number;
  readonly approvals: readonly Approval[];
  readonly outcome: OperationOutcome | undefined;
  /** User ids of those who could approve it when it was proposed: named in the card, and written to without a channel. */
  readonly approvers: readonly string[];
  readonly attemptOf: string | undefined;
}

export interface Proposal
  extends Pick<Operation, 'requester' | 'channelId' | 'reason' | 'snapshot' | 'approvers'> {
  readonly kind: Kind<unknown>;
  readonly request: unknown;
  readonly value?: Secret | undefined;
  readonly policy: Policy;
  /** The run of a step of Workflow Builder that asks for it and ends with it. */
  readonly stepRun?: string | undefined;
  /** What asked for it in its person's name: `assistant`, `client laptop`. */
  readonly via?: string | undefined;
  /** With `via`: its person has just confirmed it, by the form in which they typed its value. */
  readonly isConfirmed?: boolean | undefined;
}

export interface RequesterContext {
  readonly policy: Policy;
  readonly requester: Actor;
  readonly approvers: readonly Actor[];
}

export interface DecisionContext extends RequesterContext {
  readonly clicker: Actor;
}

/** The answer to a press, with the operation after it. */
export type Answer =
  | ShownAnswer<Operation>
  | { readonly kind: 'not-allowed'; readonly decision: Decision; readonly operation: Operation };

const undoMs = 30 * minuteMs;

/** Whether a button may still restore the value that a variable had before. */
export function canUndo(operation: Operation, now: Date): boolean {
  const { state, setsValue, movedAt } = operation;
  return state === 'succeeded' && setsValue && now.getTime() - movedAt.getTime() < undoMs;
}
