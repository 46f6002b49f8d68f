import { z } from 'zod';
import { decideApproval } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import { SlackFailure, type SlackPort } from '../../outbox/slack-port.ts';
import { defineJob } from '../../store/queue/define-job.ts';
import type { Message } from '../../views/blocks/message.ts';
import {
  renderApprovalCard,
  renderChangeNotice,
  renderRequesterMessage,
} from '../../views/operations/approvals.ts';
import { findApproverCandidates } from '../load-context.ts';
import { canUndo, type MessageReference, type Operation } from '../model.ts';
import type { OperationContext } from './ports.ts';

// More people than this are not written to one by one.
const mostWrittenTo = 20;

/**
 * Brings the messages about an operation into line with the ledger: the requester's own, and the card for approvers.
 * `first`: posts them; every later move only changes what is there, so that two runs at once do not post twice. Reads
 * the ledger again afterwards: whoever writes last has seen the newest.
 */
export const showOperationJob = defineJob({
  name: 'operation-messages',
  data: z.object({ tenant: z.string(), id: z.string(), first: z.boolean() }),
  retries: 10,
  timeLimitSeconds: 120,
  atOnce: 4,
  async run({ tenant, id, first }, context: OperationContext) {
    const { operations } = context.ports;
    let shown: Operation | undefined;
    for (let rounds = 0; rounds < 10; rounds += 1) {
      const operation = await operations.find(tenant, id);
      if (!operation || (shown && sameFace(shown, operation))) return;
      try {
        await show(operation, first && shown === undefined, context);
      } catch (error) {
        // The app was taken out of that workspace: nobody is left to show it to.
        if (error instanceof UserError) return;
        throw error;
      }
      shown = operation;
    }
  },
});

function sameFace(one: Operation, other: Operation): boolean {
  return (
    one.state === other.state &&
    one.approvals.length === other.approvals.length &&
    one.outcome?.word === other.outcome?.word &&
    one.triedAgainAs === other.triedAgainAs
  );
}

async function show(operation: Operation, posts: boolean, context: OperationContext): Promise<void> {
  const { ports, signal } = context;
  const slack = ports.slack(operation.requester, signal);
  // The card first: somebody waits for it. Neither is lost with the other.
  const shown = await Promise.allSettled([
    showApprovers(operation, posts, slack, context),
    showRequester(operation, posts, slack, context),
  ]);
  for (const outcome of shown) if (outcome.status === 'rejected') throw outcome.reason;
}

async function showRequester(
  operation: Operation,
  posts: boolean,
  slack: SlackPort,
  context: OperationContext,
): Promise<void> {
  const own = await requesterMessage(operation, context);
  const told = operation.messages.filter(({ role }) => role === 'requester');
  if (posts && told.length === 0)
    await post(slack, operation.requester.userId, own, 'requester', operation, context);
  for (const at of told) await update(slack, at, own, context);
}

async function showApprovers(
  operation: Operation,
  posts: boolean,
  slack: SlackPort,
  context: OperationContext,
): Promise<void> {
  const { ports } = context;
  const cards = operation.messages.filter(({ role }) => role === 'approval');
  const policy = await ports.authorizer(operation.requester).policy({ fresh: true });
  const candidates = await findApproverCandidates(ports.people(operation.requester), policy);
  const approvers = candidates
    .filter((actor) => decideApproval(policy, actor).allowed && actor.userId !== operation.requester.userId)
    .map(({ userId }) => userId);
  const needsNobody = operation.approvalsNeeded === 0;
  const card = needsNobody
    ? renderChangeNotice(operation)
    : renderApprovalCard(operation, { approvers: approvers.slice(0, 10) });
  for (const at of cards) await update(slack, at, card, context);
  if (!posts || cards.length > 0) return;
  const channel = policy.approvalChannel ?? (needsNobody ? operation.channelId : undefined);
  if (channel !== undefined && (await post(slack, channel, card, 'approval', operation, context))) return;
  if (needsNobody) return;
  // No channel, or one the bot cannot write into: whoever may approve hears of it directly.
  for (const userId of approvers.slice(0, mostWrittenTo)) {
    await post(slack, userId, card, 'approval', operation, context);
  }
}

async function requesterMessage(operation: Operation, { ports, now }: OperationContext): Promise<Message> {
  const changed = operation.state === 'succeeded' && canUndo(operation, now());
  const undo = !changed
    ? 'no'
    : (await ports.operations.earlierValue(operation.id))
      ? 'possible'
      : 'unknown-value';
  return renderRequesterMessage(operation, { undo });
}

/** False where Slack refused: the bot is not in that channel, or it is gone. What is unsure is tried again. */
async function post(
  slack: SlackPort,
  channel: string,
  message: Message,
  role: MessageReference['role'],
  operation: Operation,
  { ports, log }: OperationContext,
): Promise<boolean> {
  try {
    const at = await slack.post(channel, message);
    await ports.operations.noteMessage(operation.id, { role, ...at });
    return true;
  } catch (error) {
    if (!(error instanceof SlackFailure) || error.outcome === 'unknown' || error.code === 'ratelimited')
      throw error;
    log.warn({ channel, operation: operation.id, reason: error.code }, 'a request could not be shown');
    return false;
  }
}

async function update(
  slack: SlackPort,
  { channel, ts }: MessageReference,
  message: Message,
  { log }: OperationContext,
): Promise<void> {
  try {
    await slack.update({ channel, ts }, message);
  } catch (error) {
    // Somebody deleted it, or the channel was archived: there is nothing left to change.
    if (!(error instanceof SlackFailure) || error.outcome === 'unknown' || error.code === 'ratelimited')
      throw error;
    log.info({ channel, reason: error.code }, 'a message about a request could not be changed');
  }
}
