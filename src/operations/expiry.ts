import type { Kysely } from 'kysely';
import type { Schema } from '../store/schema.ts';
import { isExpired } from './decisions.ts';
import { isTooLate, startWithinMs } from './execution.ts';
import type { Operations } from './ledger.ts';
import type { Operation } from './model.ts';
import { claimReminder, findDue, findOperationsToRemind, findUnbegun } from './queries.ts';
import { readOperation } from './row.ts';
import type { LockedOperation, Transitions } from './transitions.ts';
import type { OperationValues } from './values.ts';

/** What time and endings do, without anybody pressing. */
export function createExpiry(options: {
  readonly db: Kysely<Schema>;
  readonly moves: Transitions;
  readonly values: OperationValues;
  readonly now: () => Date;
}): Pick<Operations, 'expireDue' | 'remindDue' | 'markReminded' | 'forgetValues' | 'stop'> {
  const { db, moves, values, now } = options;

  const each = async (
    ids: readonly string[],
    work: (held: LockedOperation) => Promise<Operation | undefined>,
  ): Promise<Operation[]> => {
    const moved: Operation[] = [];
    for (const id of ids) {
      const operation = await moves.hold(id, undefined, work);
      if (operation) moved.push(operation);
    }
    return moved;
  };

  return {
    async expireDue() {
      const at = now();
      const ids = await findDue(db, at, new Date(at.getTime() - startWithinMs));
      return each(ids, async (held) => {
        const { state, expiresAt } = held.operation;
        const due = state === 'proposed' ? expiresAt <= held.now : state === 'approved' && isTooLate(held);
        return due ? (await isExpired(held)).operation : undefined;
      });
    },
    async remindDue() {
      return (await findOperationsToRemind(db, now())).map(readOperation);
    },
    markReminded: (id) => claimReminder(db, id, now()),
    forgetValues: () => values.destroyIdle(),
    async stop({ person, tenant }) {
      const word = person ? 'requester-gone' : 'app-gone';
      const moved = await each(await findUnbegun(db, tenant, person?.userId), async (held) => {
        const { state } = held.operation;
        if (state !== 'proposed' && state !== 'approved') return undefined;
        return held.move({ to: 'cancelled', by: 'system', outcome: { word } });
      });
      await values.destroyOf(tenant, person?.userId);
      return moved;
    },
  };
}
