import { z } from 'zod';
import { tenantId } from '../../auth/identity.ts';
import { UserError } from '../../errors.ts';
import { formatCount, formatInteger } from '../../views/blocks/format.ts';
import {
  describeOutcome,
  describeState,
  nameInPlainText,
  waitsForRequester,
} from '../../views/operations/describe.ts';
import type { Context } from '../define.ts';
import type { Operation } from '../operations/model.ts';
import { findOperation, findRequestedBy } from '../operations/queries.ts';
import { defineTool, toIso } from './tool.ts';

const requestData = z.object({
  request: z.string().describe('Its id'),
  what: z.string(),
  state: z.string(),
  outcome: z.string().nullable(),
  approvals: z.object({ needed: z.number().int(), given: z.number().int() }),
  asked_at: z.string().nullable(),
  expires_at: z.string().nullable(),
});

/** `waits_for_you`, `waits_for_approval`, or the state of the ledger. */
export function readState(operation: Operation): string {
  if (waitsForRequester(operation)) return 'waits_for_you';
  return operation.state === 'proposed' ? 'waits_for_approval' : operation.state;
}

function toRequestData(operation: Operation): z.input<typeof requestData> {
  return {
    request: operation.id,
    what: nameInPlainText(operation),
    state: readState(operation),
    outcome: describeOutcome(operation) || null,
    approvals: { needed: operation.approvalsNeeded, given: operation.approvals.length },
    asked_at: toIso(operation.createdAt),
    expires_at: toIso(operation.expiresAt),
  };
}

/** Requests in one answer, the newest first. */
const mostRequests = 20;

export const listMyRequests = defineTool({
  name: 'list_my_requests',
  title: 'List my requests',
  description:
    'The deletions and changes that the person asked for, and whether they were approved and done.',
  needs: 'none',
  input: z.object({}),
  data: z.object({ requests: z.array(requestData) }),
  async run(_, { ledger, person, now }: Context) {
    const requests = await findRequestedBy(ledger, person, mostRequests);
    const waiting = requests.filter(({ state }) => state === 'proposed').length;
    return {
      summary:
        requests.length === 0
          ? 'Nothing was asked for yet.'
          : `${formatCount(requests.length, 'request')}, ${formatInteger(waiting)} waiting for a decision.`,
      asOf: now(),
      shown: requests.length,
      total: requests.length,
      data: { requests: requests.map(toRequestData) },
    };
  },
});

export const getRequest = defineTool({
  name: 'get_request',
  title: 'Show a request',
  description: 'One deletion or change that the person asked for: its state, approvals and outcome.',
  needs: 'none',
  input: z.object({ request: z.string().trim().min(1).max(40).describe('Its id') }),
  data: requestData,
  async run({ request: id }, { ledger, person, now }: Context) {
    const operation = await findOperation(ledger, tenantId(person), id);
    if (operation?.requester.userId !== person.userId)
      throw new UserError('This person has no request with that id.', 'list_my_requests lists them.');
    return {
      summary: `${nameInPlainText(operation)}: ${describeState(operation)}.`,
      asOf: now(),
      shown: 1,
      total: 1,
      data: toRequestData(operation),
    };
  },
});
