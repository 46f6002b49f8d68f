import { z } from 'zod';
import type { Person } from '../auth/identity.ts';
import type { People } from '../auth/people.ts';
import type { Authorizer } from '../auth/policy/authorizer.ts';
import { UserError } from '../errors.ts';
import { type OpenSlack, type Place, SlackFailure, type SlackPort } from '../outbox/slack-port.ts';
import { defineJob, type JobContext } from '../store/queue/define-job.ts';
import type { Message } from '../views/blocks/message.ts';
import {
  renderApprovalCard,
  renderChangeNotice,
  renderReminder,
  renderRequesterMessage,
} from '../views/operations/approvals.ts';
import { findAble, findApproverCandidates } from './context.ts';
import { canUndo, type MessageReference, type Operation } from './model.ts';
import { findOperation, lockOperation, readOperation } from './queries.ts';
import { findPreviousValue, type ValueStore } from './values.ts';

export interface MessagePorts {
  readonly ledger: ValueStore;
  readonly slack: OpenSlack;
  /** The rights of a person as they are now. */
  readonly authorizer: (person: Person) => Authorizer;
  readonly people: (place: Place) => People;
}
type MessageContext = JobContext<MessagePorts>;

// More approvers than this are not written to one by one.
const mostDirectMessages = 20;
const mostNamed = 10;

/**
 * Brings the messages about an operation into line with the ledger: the requester's own, and the approvers' card.
 * `first`: posts them; every later transition only updates what is there, so that two runs at once do not post twice.
 * Reads the ledger again afterwards, so that the last writer has seen the newest state.
 */
export const showOperationJob = defineJob({
  name: 'operation-messages',
  data: z.object({ tenant: z.string(), id: z.string(), first: z.boolean() }),
  retries: 10,
  timeLimitSeconds: 120,
  atOnce: 4,
  async run({ tenant, id, first }, context: MessageContext) {
    let shown: Operation | undefined;
    for (let rounds = 0; rounds < 10; rounds += 1) {
      const operation = await findOperation(context.ports.ledger, tenant, id);
      if (!operation || (shown && looksTheSame(shown, operation))) return;
      try {
        await show(operation, first && shown === undefined, context);
      } catch (error) {
        // The app was removed from that workspace.
        if (error instanceof UserError) return;
        throw error;
      }
      shown = operation;
    }
  },
});

function looksTheSame(one: Operation, other: Operation): boolean {
  return (
    one.state === other.state &&
    one.approvals.length === other.approvals.length &&
    one.outcome?.word === other.outcome?.word &&
    one.triedAgainAs === other.triedAgainAs
  );
}

async function show(operation: Operation, posts: boolean, context: MessageContext): Promise<void> {
  const slack = context.ports.slack(operation.requester, context.signal);
  // The card first: approvers wait for it. A failure of one does not stop the other.
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
  context: MessageContext,
): Promise<void> {
  const { ledger } = context.ports;
  const undoable = canUndo(operation, context.now());
  const isKnown = undoable && (await findPreviousValue(ledger, operation.id)) !== undefined;
  const undo = undoable ? (isKnown ? 'possible' : 'unknown-value') : 'no';
  const message = renderRequesterMessage(operation, { undo });
  const posted = operation.messages.filter(({ role }) => role === 'requester');
  if (posts && posted.length === 0)
    await post(slack, operation.requester.userId, message, 'requester', operation, context);
  for (const at of posted) await update(slack, at, message, context);
}

async function showApprovers(
  operation: Operation,
  posts: boolean,
  slack: SlackPort,
  context: MessageContext,
): Promise<void> {
  const { ports } = context;
  const policy = await ports.authorizer(operation.requester).policy({ fresh: true });
  const candidates = await findApproverCandidates(ports.people(operation.requester), policy);
  const approvers = findAble(policy, candidates, [operation.requester.userId]);
  const needsNobody = operation.approvalsNeeded === 0;
  const card = needsNobody
    ? renderChangeNotice(operation)
    : renderApprovalCard(operation, { approvers: approvers.slice(0, mostNamed) });
  const cards = operation.messages.filter(({ role }) => role === 'approval');
  for (const at of cards) await update(slack, at, card, context);
  if (!posts || cards.length > 0) return;
  const channel = policy.approvalChannel ?? (needsNobody ? operation.channelId : undefined);
  if (channel !== undefined && (await post(slack, channel, card, 'approval', operation, context))) return;
  if (needsNobody) return;
  // No channel, or one the bot cannot write to: every approver gets the card.
  for (const userId of approvers.slice(0, mostDirectMessages))
    await post(slack, userId, card, 'approval', operation, context);
}

/** Below the card, once. A failure is only logged: the card itself is there. */
export async function remindApprovers(
  operation: Operation,
  { ports, signal, log }: MessageContext,
): Promise<void> {
  try {
    const policy = await ports.authorizer(operation.requester).policy();
    const candidates = await findApproverCandidates(ports.people(operation.requester), policy);
    const done = [operation.requester.userId, ...operation.approvals.map(({ by }) => by)];
    const message = renderReminder(operation, findAble(policy, candidates, done).slice(0, mostNamed));
    const slack = ports.slack(operation.requester, signal);
    for (const { role, channel, ts } of operation.messages)
      if (role === 'approval') await slack.post(channel, message, { thread: ts });
  } catch (error) {
    log.warn({ error, operation: operation.id }, 'approvers could not be reminded');
  }
}

/** False where Slack refused: the bot is not in that channel, or it is gone. Uncertain failures are retried. */
async function post(
  slack: SlackPort,
  channel: string,
  message: Message,
  role: MessageReference['role'],
  operation: Operation,
  { ports, log }: MessageContext,
): Promise<boolean> {
  try {
    const at = await slack.post(channel, message);
    await storeMessageReference(ports.ledger, operation.id, { role, ...at });
    return true;
  } catch (error) {
    if (!isRefused(error)) throw error;
    log.warn(
      { channel, operation: operation.id, reason: error.code },
      'operation message could not be posted',
    );
    return false;
  }
}

async function update(
  slack: SlackPort,
  { channel, ts }: MessageReference,
  message: Message,
  { log }: MessageContext,
): Promise<void> {
  try {
    await slack.update({ channel, ts }, message);
  } catch (error) {
    // Deleted by a person, or in an archived channel: nothing is left to update.
    if (!isRefused(error)) throw error;
    log.info({ channel, reason: error.code }, 'operation message could not be updated');
  }
}

function isRefused(error: unknown): error is SlackFailure {
  return error instanceof SlackFailure && error.outcome === 'refused' && error.code !== 'ratelimited';
}

// A card for each of twenty approvers, the requester's message, and cards that were posted twice.
const mostMessages = 30;

/** Keeps where a message is, once. Two cards may stand in one channel after a post whose answer got lost. */
export async function storeMessageReference(
  { db }: Pick<ValueStore, 'db'>,
  id: string,
  { role, channel, ts }: MessageReference,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const logged = await lockOperation(trx, id);
    if (!logged) return;
    const { messages } = readOperation(logged);
    const isKnown = messages.some((one) => one.channel === channel && one.ts === ts);
    if (isKnown || messages.length >= mostMessages) return;
    const stored = JSON.stringify([...messages, { role, channel, ts }]);
    await trx.updateTable('operations').set({ messages: stored }).where('id', '=', id).execute();
  });
}
