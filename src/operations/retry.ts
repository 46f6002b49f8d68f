import type { Kysely } from 'kysely';
import { type Person, tenantId } from '../auth/identity.ts';
import type { Sealer } from '../auth/keys/sealing.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Schema } from '../store/schema.ts';
import type { Operations, TryAgainAnswer } from './ledger.ts';
import type { Propose } from './propose.ts';
import { findLastSets, lockOperation } from './queries.ts';
import { attachValue } from './request.ts';
import { findSealReason, readOperation } from './row.ts';
import type { Transitions } from './transitions.ts';
import type { OperationValues } from './values.ts';

/** The same once more, and back to what was before. */
export function createRetry(options: {
  readonly db: Kysely<Schema>;
  readonly moves: Transitions;
  readonly sealer: Sealer;
  readonly values: OperationValues;
  readonly propose: Propose;
}): Pick<Operations, 'tryAgain' | 'earlierValue'> {
  const { db, moves, sealer, values, propose } = options;
  return {
    tryAgain: (id, requester: Person, { policy, channelId, snapshot }) =>
      moves.together<TryAgainAnswer>(async (trx, record) => {
        const logged = await lockOperation(trx, id);
        if (!logged || logged.row.tenant !== tenantId(requester)) return { kind: 'not-found' };
        const operation = readOperation(logged);
        if (operation.requester.userId !== requester.userId) return { kind: 'not-requester', operation };
        if (logged.triedAgainAs !== undefined) {
          const other = await lockOperation(trx, logged.triedAgainAs);
          return { kind: 'already-again', operation: other ? readOperation(other) : operation };
        }
        const may = ['failed', 'unknown', 'expired'].includes(operation.state);
        if (!may || findSealReason(sealer, logged.row)) return { kind: 'not-now', why: 'state', operation };
        const opened = logged.row.value_mac === null ? undefined : await values.open(trx, logged.row);
        if (opened && !('value' in opened)) return { kind: 'not-now', why: 'value-gone', operation };
        const request = attachValue(operation.request, opened?.value);
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
