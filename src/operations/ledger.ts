import type { Kysely } from 'kysely';
import type { Audit } from '../auth/audit/audit.ts';
import { type Person, tenantId } from '../auth/identity.ts';
import type { Sealer } from '../auth/keys/sealing.ts';
import type { Decision, Policy } from '../auth/policy/policy.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Schema } from '../store/schema.ts';
import { createDecisions } from './decisions.ts';
import { createExecution } from './execution.ts';
import { createExpiry } from './expiry.ts';
import type {
  DecisionContext,
  Json,
  MessageReference,
  Operation,
  OperationEvent,
  OperationOutcome,
  OperationRequest,
  OperationState,
  Proposal,
  RequesterContext,
  VoidReason,
} from './model.ts';
import { createPropose } from './propose.ts';
import { findOperation, findRequestedBy, findWaitingFor, setMessages } from './queries.ts';
import { createRetry } from './retry.ts';
import { readEvent, readOperation } from './row.ts';
import { createTransitions, type OnTransition } from './transitions.ts';
import { createOperationValues } from './values.ts';

/** What can stand in the way of any click. */
export type Obstacle =
  /** No such operation in this organisation or workspace. */
  | { readonly kind: 'not-found' }
  /** It is past that: what it is, by whom, since when. */
  | {
      readonly kind: 'already';
      readonly state: OperationState;
      readonly by: string;
      readonly at: Date;
      readonly operation: Operation;
    }
  | { readonly kind: 'expired'; readonly operation: Operation }
  | { readonly kind: 'not-allowed'; readonly decision: Decision; readonly operation: Operation }
  /** It was voided now, by this click. */
  | { readonly kind: 'void'; readonly why: VoidReason; readonly operation: Operation };

export type ApproveAnswer =
  | Obstacle
  /** Counted; with `have` = `need` it is approved and its job is on the way. */
  | { readonly kind: 'approved'; readonly have: number; readonly need: number; readonly operation: Operation }
  /** Nobody approves what they asked for, admins neither. */
  | { readonly kind: 'own-request'; readonly operation: Operation }
  /** They have approved it before; it waits for others. */
  | { readonly kind: 'twice'; readonly have: number; readonly need: number; readonly operation: Operation };

export type DenyAnswer =
  | Obstacle
  | { readonly kind: 'denied'; readonly operation: Operation }
  | { readonly kind: 'own-request'; readonly operation: Operation };

export type CancelAnswer =
  | Extract<Obstacle, { kind: 'not-found' | 'already' }>
  | { readonly kind: 'cancelled'; readonly operation: Operation }
  | { readonly kind: 'not-requester'; readonly operation: Operation };

export type ConfirmAnswer =
  | Extract<Obstacle, { kind: 'not-found' | 'already' | 'not-allowed' }>
  | { readonly kind: 'confirmed'; readonly operation: Operation };

export type TryAgainAnswer =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'proposed'; readonly operation: Operation }
  | { readonly kind: 'not-requester'; readonly operation: Operation }
  /** Somebody has pressed it before: this is what came of it. */
  | { readonly kind: 'already-again'; readonly operation: Operation }
  /** Only what failed, expired or is unknown is tried again; and while its value is still kept. */
  | { readonly kind: 'not-now'; readonly why: 'state' | 'value-gone'; readonly operation: Operation };

export type BeginAnswer =
  /** For exactly one caller, ever: send it once, then `settle`. */
  | { readonly kind: 'begun'; readonly operation: Operation; readonly request: OperationRequest }
  /** Somebody else began it, or it has ended: do not send. */
  | Extract<Obstacle, { kind: 'not-found' | 'already' | 'expired' | 'void' }>;

/** Moved by whatever, with what it is now. */
export type SettleAnswer =
  | Extract<Obstacle, { kind: 'not-found' | 'already' }>
  | { readonly kind: 'settled'; readonly operation: Operation };

/**
 * The ledger of what was asked for, approved and done. Each move is one transaction: a compare-and-set of the row, its
 * event, its audit record and, with the last approval, its job. Any number of processes may call anything at once.
 */
export interface Operations {
  /** Stores a sealed request. Where policy asks for no approval it is approved at once and its job enqueued. */
  propose(proposal: Proposal): Promise<Operation>;
  approve(id: string, approver: Person, facts: DecisionContext): Promise<ApproveAnswer>;
  /** `reason` is typed by a person, 1 to 500 characters. */
  deny(id: string, approver: Person, reason: string, facts: DecisionContext): Promise<DenyAnswer>;
  /** By the requester, until it is begun. */
  cancel(id: string, requester: Person): Promise<CancelAnswer>;
  /** The one door to the wire: approved → executing, once ever. Checks seal, approvals and rights again. */
  begin(id: string, facts: RequesterContext): Promise<BeginAnswer>;
  /** What came of the request. A late word of the service also replaces `unknown`, unless a person has said. */
  settle(
    id: string,
    state: 'succeeded' | 'failed' | 'unknown',
    outcome: OperationOutcome,
  ): Promise<SettleAnswer>;
  /**
   * executing → unknown, never sent again: the operation named (its job's process died), else all that have been
   * executing longer than any request may take. Gives what it moved, so that people are told.
   */
  abandoned(id?: string): Promise<Operation[]>;
  /** A person has looked: unknown → succeeded or failed. The requester may, and whoever may approve. */
  confirm(
    id: string,
    person: Person,
    state: 'succeeded' | 'failed',
    facts: DecisionContext,
  ): Promise<ConfirmAnswer>;
  /** A new operation with the same request, to be approved anew; once for each operation. */
  tryAgain(
    id: string,
    requester: Person,
    again: { readonly policy: Policy; readonly channelId: string | undefined; readonly snapshot: Json },
  ): Promise<TryAgainAnswer>;
  /** Expires what waited too long; gives what it moved. */
  expireDue(): Promise<Operation[]>;
  /** What waits, is past half of its time, and nobody was reminded of. */
  remindDue(): Promise<Operation[]>;
  /** True for exactly one caller: that one reminds. */
  markReminded(id: string): Promise<boolean>;
  /** Keeps where a message about it is, once. */
  noteMessage(id: string, message: MessageReference): Promise<void>;
  find(tenant: string, id: string): Promise<Operation | undefined>;
  /** Its log, oldest first. */
  events(tenant: string, id: string): Promise<OperationEvent[]>;
  /** What this person could still approve, if they are an approver: not theirs, not approved by them. Oldest first. */
  waitingFor(person: Person): Promise<Operation[]>;
  /** What this person asked for, newest first. */
  requestedBy(person: Person, most: number): Promise<Operation[]>;
  /**
   * The value that held before this succeeded variable update, where it is known from an earlier one through the bot
   * and nothing that may have changed it came between. For an undo: a new proposal with it.
   */
  earlierValue(id: string): Promise<Secret | undefined>;
  /** Destroys values that nobody needs any more; says how many. For housekeeping. */
  forgetValues(): Promise<number>;
  /**
   * Cancels what waits for one person or a whole tenant, and destroys their values: a key ended, the app was removed
   * (`endings.ts`). Gives what it moved.
   */
  stop(ended: { readonly person: Person | undefined; readonly tenant: string }): Promise<Operation[]>;
}

export interface OperationsOptions {
  readonly db: Kysely<Schema>;
  readonly sealer: Sealer;
  readonly audit: Audit;
  readonly now: () => Date;
  /** Called in the transaction that approves. The job calls `begin`. */
  readonly enqueue: OnTransition;
  /** Called in the transaction of every move, the proposal first: what people see of it follows. */
  readonly follow?: OnTransition | undefined;
}

export function createOperations(options: OperationsOptions): Operations {
  const { db, sealer, now } = options;
  const values = createOperationValues({ db, sealer, now });
  const moves = createTransitions({ ...options, values });
  const propose = createPropose({ ...options, moves, values });
  const clicks = createDecisions({ moves, sealer, values });
  const run = createExecution({ db, moves, sealer, values, now });
  const again = createRetry({ db, moves, sealer, values, propose });
  const due = createExpiry({ db, moves, values, now });
  return {
    propose: (proposal) => moves.together((trx, record) => propose(trx, record, proposal)),
    ...clicks,
    ...run,
    ...again,
    ...due,
    async noteMessage(id, message) {
      await moves.hold(id, undefined, async ({ trx, operation }) => {
        const { role, channel, ts } = message;
        const known = operation.messages.some((one) => one.channel === channel && one.ts === ts);
        // Two cards may stand in one channel, after a post whose answer got lost: both are kept up to date.
        if (known || operation.messages.length >= mostMessages) return;
        await setMessages(trx, id, JSON.stringify([...operation.messages, { role, channel, ts }]));
      });
    },
    async find(tenant, id) {
      // A button's value may be anything; neither engine takes NUL.
      if (!/^[a-z0-9]{16}$/.test(id)) return undefined;
      const found = await findOperation(db, tenant, id);
      return found && readOperation(found);
    },
    async events(tenant, id) {
      return (await findOperation(db, tenant, id))?.events.map(readEvent) ?? [];
    },
    async waitingFor(person) {
      const found = await findWaitingFor(db, tenantId(person), person.userId, now(), mostWaiting);
      return found.map(readOperation);
    },
    async requestedBy(person, most) {
      return (await findRequestedBy(db, tenantId(person), person.userId, most)).map(readOperation);
    },
  };
}

// A card for each of twenty approvers, the requester's message, and cards that came twice.
const mostMessages = 30;
// More than anybody reads; the oldest are shown, so that what expires first is.
const mostWaiting = 100;
