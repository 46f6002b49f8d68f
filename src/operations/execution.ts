import type { Kysely } from 'kysely';
import type { Sealer } from '../auth/keys/sealing.ts';
import { minuteMs } from '../lib/time.ts';
import type { Schema } from '../store/schema.ts';
import { alreadySettled, isExpired } from './decisions.ts';
import type { BeginAnswer, SettleAnswer } from './ledger.ts';
import type { Operation, OperationOutcome, RequesterContext } from './model.ts';
import { findExecutingSince } from './queries.ts';
import { attachValue } from './request.ts';
import { findVoidReason } from './row.ts';
import type { LockedOperation, Transitions } from './transitions.ts';
import type { OperationValues } from './values.ts';

interface Run {
  begin(id: string, facts: RequesterContext): Promise<BeginAnswer>;
  settle(
    id: string,
    state: 'succeeded' | 'failed' | 'unknown',
    outcome: OperationOutcome,
  ): Promise<SettleAnswer>;
  abandoned(id?: string): Promise<Operation[]>;
}

/** What was approved runs at once or not at all: nobody expects a deletion after a day in a queue. */
export const startWithinMs = 10 * minuteMs;
// Longer than a request may take with its waits for a rate limit.
const longestRunMs = 10 * minuteMs;

/** The way to the wire and back. */
export function createExecution(options: {
  readonly db: Kysely<Schema>;
  readonly moves: Transitions;
  readonly sealer: Sealer;
  readonly values: OperationValues;
  readonly now: () => Date;
}): Run {
  const { db, moves, sealer, values, now } = options;

  return {
    async begin(id, facts) {
      const answer = await moves.hold<BeginAnswer>(id, undefined, async (held) => {
        const { operation, logged, trx } = held;
        if (operation.state !== 'approved') return alreadySettled(operation);
        const why = await findVoidReason({ trx, sealer, values }, logged, facts, true);
        if (why === 'changed' || why === 'key-gone')
          return { kind: 'void', why, operation: await held.voided(why) };
        if (isTooLate(held)) return isExpired(held);
        if (why) return { kind: 'void', why, operation: await held.voided(why) };
        const opened = logged.row.value_mac === null ? undefined : await values.open(trx, logged.row);
        const value = opened && 'value' in opened ? opened.value : undefined;
        const request = attachValue(operation.request, value);
        return { kind: 'begun', request, operation: await held.move({ to: 'executing', by: 'system' }) };
      });
      return answer ?? { kind: 'not-found' };
    },
    async settle(id, state, given) {
      const outcome = checked(given);
      const answer = await moves.hold<SettleAnswer>(id, undefined, async (held) => {
        const { operation } = held;
        // Only the system says `unknown`, so no person's word is lost by a late one of the service.
        const late = operation.state === 'unknown' && state !== 'unknown';
        if (operation.state !== 'executing' && !late) return alreadySettled(operation);
        return { kind: 'settled', operation: await held.move({ to: state, by: 'system', outcome }) };
      });
      return answer ?? { kind: 'not-found' };
    },
    async abandoned(only) {
      const ids =
        only === undefined ? await findExecutingSince(db, new Date(now().getTime() - longestRunMs)) : [only];
      const moved: Operation[] = [];
      for (const id of ids) {
        const operation = await moves.hold(id, undefined, async (held) => {
          if (held.operation.state !== 'executing') return undefined;
          return held.move({ to: 'unknown', by: 'system', outcome: { word: 'process-died' } });
        });
        if (operation) moved.push(operation);
      }
      return moved;
    },
  };
}

/** Asked of what is signed or sealed, not of the row's own clock. */
export function isTooLate({ operation, now }: Pick<LockedOperation, 'operation' | 'now'>): boolean {
  const approvedAt = operation.approvals.at(-1)?.at ?? operation.createdAt;
  return now.getTime() - approvedAt.getTime() >= startWithinMs;
}

// Neither is ours: what is stored and audited has a shape.
const words = /^[a-z][a-z0-9-]{0,63}$/;
const requestIds = /^[\w.:-]{1,80}$/;

function checked({ word, requestId, ...rest }: OperationOutcome): OperationOutcome {
  if (!words.test(word)) throw new Error('An outcome is a word of small letters, digits and hyphens.');
  return requestId !== undefined && requestIds.test(requestId)
    ? { ...rest, word, requestId }
    : { ...rest, word };
}
