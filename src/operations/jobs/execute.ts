import { z } from 'zod';
import type { CdnClient } from '../../api/cdn.ts';
import { ApiError } from '../../api/http/errors.ts';
import { UserError } from '../../errors.ts';
import { defineJob } from '../../store/queue/define-job.ts';
import type { Operations } from '../ledger.ts';
import { loadContext } from '../load-context.ts';
import type { OperationOutcome, OperationRequest } from '../model.ts';
import type { OperationContext, OperationPorts } from './ports.ts';

interface Settled {
  readonly state: 'succeeded' | 'failed' | 'unknown';
  readonly outcome: OperationOutcome;
}

/**
 * Runs what was approved, with the requester's key. The ledger's `begin` lets one run through, once, ever; a run that
 * comes after one that died finds it executing, and says that nobody knows.
 */
export const executeOperationJob = defineJob({
  name: 'operation-run',
  data: z.object({ tenant: z.string(), id: z.string() }),
  retries: 8,
  timeLimitSeconds: 120,
  atOnce: 4,
  async run({ tenant, id }, { ports, signal, log }: OperationContext) {
    const { operations } = ports;
    const found = await operations.find(tenant, id);
    if (!found) return;
    // Before anything is begun: a key that does not open leaves the operation as it is, and the job tries again.
    const cdn = await ports.cdn(found.requester, signal).catch((error: unknown) => {
      if (error instanceof UserError) return undefined;
      throw error;
    });
    const begun = await operations.begin(id, await loadContext(ports.authorizer(found.requester), found));
    if (begun.kind === 'already' && begun.state === 'executing') {
      log.warn({ operation: id }, 'an operation was begun by a process that is gone');
      await operations.abandoned(id);
      return;
    }
    if (begun.kind !== 'begun') return;
    const settled = cdn ? await send(begun.request, cdn, ports) : noKey;
    log.info({ operation: id, state: settled.state, word: settled.outcome.word }, 'an operation ran');
    await settle(operations, id, settled, signal);
  },
});

const noKey: Settled = { state: 'failed', outcome: { word: 'key-refused' } };

/** One request. Whatever comes back, or does not, becomes a state. */
async function send(request: OperationRequest, cdn: CdnClient, ports: OperationPorts): Promise<Settled> {
  try {
    if (request.kind === 'volume-delete') {
      const { ids, requestId } = await cdn.volumes.deleteAll(request.appId, request.volumeId);
      if (ids === undefined) return { state: 'succeeded', outcome: { word: 'done', requestId } };
      return ids.length === 0
        ? { state: 'failed', outcome: { word: 'nothing-deleted', requestId } }
        : { state: 'succeeded', outcome: { word: 'done', requestId, facts: { instances: ids.length } } };
    }
    const { scriptId, variableId, value, required } = request;
    const { requestId } = await cdn.variables.update(scriptId, variableId, {
      ...(value ? { defaultValue: value } : {}),
      ...(required === undefined ? {} : { required }),
    });
    return { state: 'succeeded', outcome: { word: 'done', requestId } };
  } catch (error) {
    // A bad id, noticed before anything was sent.
    if (error instanceof UserError) return { state: 'failed', outcome: { word: 'bad-id' } };
    if (error instanceof ApiError) return withReference(settledBy(error, request.kind), error, ports);
    throw error;
  }
}

/** What people quote, and the log has. */
function withReference({ state, outcome }: Settled, error: ApiError, ports: OperationPorts): Settled {
  const { reference } = ports.explain(error, 'operations');
  if (reference === undefined) return { state, outcome };
  return { state, outcome: { ...outcome, facts: { ...outcome.facts, reference } } };
}

/** What an error of the CDN says about whether it was done (cdn-api.md §2.3, §2.6). */
function settledBy(error: ApiError, kind: OperationRequest['kind']): Settled {
  const { status, requestId, serviceMessage } = error;
  const known = {
    ...(status === undefined ? {} : { status }),
    ...(requestId === undefined ? {} : { requestId }),
  };
  const failed = (word: string, facts?: OperationOutcome['facts']): Settled => ({
    state: 'failed',
    outcome: { word, ...known, ...(facts ? { facts } : {}) },
  });
  switch (error.code) {
    case 'key_refused':
      return failed('key-refused');
    case 'rate_limited':
      return failed('rate-limited');
    case 'not_found':
      return failed('not-found');
    case 'refused':
      if (kind === 'volume-delete' && status === 400 && /detach/iu.test(serviceMessage ?? ''))
        return failed('not-detached');
      return failed(
        'refused',
        serviceMessage === undefined ? undefined : { says: serviceMessage.slice(0, 300) },
      );
    case 'unavailable':
    case 'unreachable':
    case 'timeout':
    case 'cut':
    case 'unexpected':
    case 'cancelled':
      return error.sent
        ? { state: 'unknown', outcome: { word: 'unanswered', ...known } }
        : failed('not-sent');
  }
}

const settleTries = 6;

/** A word of the service is worth some patience with the database: without it nobody would know. */
async function settle(
  operations: Operations,
  id: string,
  { state, outcome }: Settled,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await operations.settle(id, state, outcome);
      return;
    } catch (error) {
      if (tries >= settleTries || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** tries));
    }
  }
}
