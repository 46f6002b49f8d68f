import type { Kysely } from 'kysely';
import type { Secret } from '../secret.ts';
import { findLastSets, lockOperation } from '../store/operations.ts';
import type { Schema } from '../store/schema.ts';
import { type Person, tenantOf } from './identity.ts';
import type { Operations, TryAgainAnswer } from './operations.ts';
import type { Moves } from './operations-moves.ts';
import type { Propose } from './operations-propose.ts';
import { withValue } from './operations-request.ts';
import { operationOf, sealReasonOf } from './operations-row.ts';
import type { OperationValues } from './operations-values.ts';
import type { Sealer } from './sealing.ts';

/** The same once more, and back to what was before. */
export function createAgain(options: {
  readonly db: Kysely<Schema>;
  readonly moves: Moves;
  readonly sealer: Sealer;
  readonly values: OperationValues;
  readonly propose: Propose;
}): Pick<Operations, 'tryAgain' | 'earlierValue'> {
  const { db, moves, sealer, values, propose } = options;
  return {
    tryAgain: (id, requester: Person, { policy, channelId, snapshot }) =>
      moves.together<TryAgainAnswer>(async (trx, record) => {
        const logged = await lockOperation(trx, id);
        if (!logged || logged.row.tenant !== tenantOf(requester)) return { kind: 'not-found' };
        const operation = operationOf(logged);
        if (operation.requester.userId !== requester.userId) return { kind: 'not-requester', operation };
        if (logged.triedAgainAs !== undefined) {
          const other = await lockOperation(trx, logged.triedAgainAs);
          return { kind: 'already-again', operation: other ? operationOf(other) : operation };
        }
        const may = ['failed', 'unknown', 'expired'].includes(operation.state);
        if (!may || sealReasonOf(sealer, logged.row)) return { kind: 'not-now', why: 'state', operation };
        const opened = logged.row.value_mac === null ? undefined : await values.open(trx, logged.row);
        if (opened && !('value' in opened)) return { kind: 'not-now', why: 'value-gone', operation };
        const request = withValue(operation.request, opened?.value);
        const { reason } = operation;
        const proposal = { requester, channelId, request, reason, snapshot, policy };
        return { kind: 'proposed', operation: await propose(trx, record, proposal, id) };
      }),
    async earlierValue(id): Promise<Secret | undefined> {
      const [last, earlier] = await findLastSets(db, id);
      if (last?.id !== id || last.state !== 'succeeded' || earlier?.state !== 'succeeded') return undefined;
      const opened = await values.open(db, earlier);
      return 'value' in opened ? opened.value : undefined;
    },
  };
}
