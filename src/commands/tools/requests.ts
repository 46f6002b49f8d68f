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
import { settingsChange } from '../operations/kinds/settings.ts';
import type { Operation } from '../operations/model.ts';
import { findOperation, findRequestedBy } from '../operations/queries.ts';
import { defineTool, type NextCall, toIso } from './tool.ts';

export const requestData = z.object({
  request: z.string().nullable().describe('Its id; null where the person still has to type the value'),
  what: z.string(),
  state: z
    .string()
    .describe('waits_for_you: the person confirms it in Slack; waits_for_approval; or how it ended'),
  outcome: z.string().nullable(),
  approvals: z.object({ needed: z.number().int(), given: z.number().int() }),
  asked_at: z.string().nullable(),
  expires_at: z.string().nullable(),
});

export function toRequestData(operation: Operation): z.input<typeof requestData> {
  const { id, state, approvals, approvalsNeeded, createdAt, expiresAt } = operation;
  const waits = waitsForRequester(operation) ? 'waits_for_you' : 'waits_for_approval';
  return {
    request: id,
    what: nameInPlainText(operation),
    state: state === 'proposed' ? waits : state,
    outcome: describeOutcome(operation) || null,
    approvals: { needed: approvalsNeeded, given: approvals.length },
    asked_at: toIso(createdAt),
    expires_at: toIso(expiresAt),
  };
}

/** The call that shows a request. */
export function toRequest(operation: Operation): NextCall {
  return { label: nameInPlainText(operation), tool: 'get_request', arguments: { request: operation.id } };
}

export const listRequests: NextCall = { label: 'My requests', tool: 'list_my_requests', arguments: {} };

/** Requests in one answer, the newest first, of so many that are looked at. */
const most = { shown: 20, read: 200 };

/** Settings of the bot are not for a model: neither are changes of them. */
function isForModels({ kind }: Operation): boolean {
  return kind !== settingsChange.name;
}

export const listMyRequests = defineTool({
  name: 'list_my_requests',
  command: 'approvals',
  title: 'List my requests',
  description:
    'The deletions and changes that the person asked for, and whether they were approved and done.',
  needs: 'none',
  input: z.object({}),
  data: z.object({ requests: z.array(requestData) }),
  async run(_, { ledger, person }: Context) {
    const requests = (await findRequestedBy(ledger, person, most.read)).filter(isForModels);
    const shown = requests.slice(0, most.shown);
    const waiting = requests.filter(({ state }) => state === 'proposed').length;
    return {
      summary:
        requests.length === 0
          ? 'Nothing was asked for yet.'
          : `${formatCount(requests.length, 'request')}, ${formatInteger(waiting)} waiting for a decision.`,
      shown: shown.length,
      total: requests.length,
      data: { requests: shown.map(toRequestData) },
      next: requests.slice(0, 3).map(toRequest),
    };
  },
});

export const getRequest = defineTool({
  name: 'get_request',
  command: 'approvals',
  source: 'list_my_requests',
  title: 'Show a request',
  description: 'One deletion or change that the person asked for: its state, approvals and outcome.',
  needs: 'none',
  input: z.object({ request: z.string().trim().min(1).max(40).describe('Its id') }),
  data: requestData,
  async run({ request: id }, { ledger, person }: Context) {
    const operation = await findOperation(ledger, tenantId(person), id);
    if (!operation || operation.requester.userId !== person.userId || !isForModels(operation))
      throw new UserError('This person has no request with that id.', '`/cdn approvals` lists theirs.');
    return {
      summary: `${nameInPlainText(operation)}: ${describeState(operation)}.`,
      data: toRequestData(operation),
      next: [listRequests],
    };
  },
});
