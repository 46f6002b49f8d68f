import { UserError } from '../../errors.ts';
import { minuteMs } from '../../lib/time.ts';
import { endStepRun } from '../../outbox/complete-step.ts';
import { defineMessage, type Ended, type Outbox, type RenderContext } from '../../outbox/outbox.ts';
import type { Enqueue, JobContext } from '../../store/queue.ts';
import type { Trx } from '../../store/schema.ts';
import {
  renderApprovalCard,
  renderReminder,
  renderRequesterMessage,
} from '../../views/operations/approvals.ts';
import { describeDeletion, hasEnded } from '../../views/steps.ts';
import { findUndone, type Kinds } from './kinds/kind.ts';
import { findOperation, type Operation } from './model.ts';
import { findUndo, type ValueStore } from './values.ts';

/*
 * The messages about an operation, rendered from the ledger when they are sent. Every transition updates them.
 */

export interface MessagePorts {
  readonly ledger: ValueStore & { readonly outbox: Outbox; readonly kinds: Kinds };
}

type About = { readonly tenant: string; readonly id: string };

/** Approvers get the card of their own where their channel has not taken it for so long: a request lives for half an hour. */
const channelPatienceMs = 5 * minuteMs;
const mostDirectMessages = 20;
const mostNamed = 10;

type OutboxTrx = { readonly outbox: Outbox; readonly db: Trx; readonly kinds: Kinds };

export async function queueMessages(
  tx: OutboxTrx,
  operation: Operation,
  approvalChannel: string | undefined,
): Promise<void> {
  const { id, row, requester, approvalsNeeded, createdAt } = operation;
  const channel = approvalChannel ?? (approvalsNeeded === 0 ? row.channel_id : null);
  const expiresAt = approvalsNeeded === 0 ? undefined : new Date(createdAt.getTime() + channelPatienceMs);
  if (channel !== null) await putMessage(tx, operation, cardId(id), channel, expiresAt);
  else if (approvalsNeeded > 0) await queueDirectCards(tx, operation);
  await putMessage(tx, operation, requesterMessageId(id), requester.userId);
}

async function queueDirectCards(tx: OutboxTrx, operation: Operation): Promise<void> {
  for (const approver of operation.approvers.slice(0, mostDirectMessages))
    await putMessage(tx, operation, cardId(operation.id, approver), approver);
}

async function putMessage(
  { outbox, db }: OutboxTrx,
  { tenant, id, requester: installation }: Operation,
  messageId: string,
  place: string,
  expiresAt?: Date,
): Promise<void> {
  const kind = messageId.startsWith(requesterMessageId(id)) ? requesterMessage : approvalCard;
  const message = { id: messageId, kind, about: { tenant, id }, installation } as const;
  // A request seen twice is better than one that nobody sees.
  await outbox.put(db, { ...message, to: { places: [place] }, doubt: 'retry', expiresAt });
}

export async function refreshMessages(tx: OutboxTrx, operation: Operation): Promise<void> {
  for (const id of await findMessages(tx.db, operation)) await tx.outbox.edit(tx.db, id);
  const undone = operation.state === 'succeeded' && findUndone(operation.snapshot);
  if (!undone) return;
  const original = await findOperation(tx, operation.tenant, undone);
  if (original) await refreshMessages(tx, original);
}

export async function queueReminder({ outbox, db }: OutboxTrx, operation: Operation): Promise<void> {
  const { tenant, id, requester, expiresAt } = operation;
  const cards = (await findMessages(db, operation)).filter((message) => message.startsWith(cardId(id)));
  for (const parent of cards)
    await outbox.put(db, {
      id: `${parent}:reminder`,
      kind: approvalReminder,
      about: { tenant, id },
      installation: requester,
      to: { parent },
      doubt: 'once',
      expiresAt,
    });
}

const requesterMessage = defineMessage({
  kind: 'operation-requester',
  async render({ tenant, id }: About, { ports, db }: RenderContext<MessagePorts>) {
    const operation = await findOperation({ ...ports.ledger, db }, tenant, id);
    if (!operation) return undefined;
    const undo = await findUndo(ports.ledger, operation);
    return renderRequesterMessage(operation, typeof undo === 'string' ? undo : 'possible');
  },
  async ended(trx, { id, about, code }: Ended<About>, { ports }: JobContext<MessagePorts>) {
    if (code === 'put_aside') await putSecondMessage({ ...ports.ledger, db: trx }, about, id);
  },
  async editFailed(trx, { id, about }, { ports }: JobContext<MessagePorts>) {
    await putSecondMessage({ ...ports.ledger, db: trx }, about, id);
  },
});

/** The requester reads the outcome even if their message could not be edited. */
async function putSecondMessage(tx: OutboxTrx, about: About, first: string): Promise<void> {
  const second = requesterMessageId(about.id, 'again');
  const operation = first === second ? undefined : await findOperation(tx, about.tenant, about.id);
  if (operation && hasEnded(operation)) await putMessage(tx, operation, second, operation.requester.userId);
}

const approvalCard = defineMessage({
  kind: 'operation-card',
  async render({ tenant, id }: About, { ports, db }: RenderContext<MessagePorts>) {
    const operation = await findOperation({ ...ports.ledger, db }, tenant, id);
    return operation && renderApprovalCard(operation, operation.approvers.slice(0, mostNamed));
  },
  async ended(trx, ended: Ended<About>, { ports }: JobContext<MessagePorts>) {
    const tx = { ...ports.ledger, db: trx };
    const { tenant, id } = ended.about;
    // The bot cannot, must not, or may not have written to the channel: every approver gets the card.
    if (ended.state === 'sent' || ended.reason === 'app-gone' || ended.id !== cardId(id)) return;
    const operation = await findOperation(tx, tenant, id);
    if (operation && operation.approvalsNeeded > 0) await queueDirectCards(tx, operation);
  },
});

const approvalReminder = defineMessage({
  kind: 'operation-reminder',
  async render({ tenant, id }: About, { ports, db }: RenderContext<MessagePorts>) {
    const operation = await findOperation({ ...ports.ledger, db }, tenant, id);
    if (operation?.state !== 'proposed') return undefined;
    const done = operation.approvals.map(({ by }) => by);
    const waiting = operation.approvers.filter((approver) => !done.includes(approver));
    return renderReminder(operation, waiting.slice(0, mostNamed));
  },
});

export interface FormAbout {
  readonly userId: string;
  readonly path: string;
  readonly at: number;
  readonly until: number;
}

export const variableForm = defineMessage<FormAbout, MessagePorts>({ kind: 'variable-form' });

export const operationMessages = [approvalCard, approvalReminder, requesterMessage, variableForm];

async function findMessages(db: Trx, { id, approvers }: Operation): Promise<string[]> {
  const ids = [
    requesterMessageId(id),
    requesterMessageId(id, 'again'),
    cardId(id),
    ...approvers.map((approver) => cardId(id, approver)),
  ];
  const messages = db.selectFrom('outbox').select('id').where('id', 'in', ids).orderBy('id');
  // Waits for messages that are just ending, so that those which replace them are found below.
  await messages.forUpdate().execute();
  const found = await messages.where('state', 'in', ['due', 'sending', 'sent']).execute();
  return found.map((message) => message.id);
}

function requesterMessageId(id: string, again?: 'again'): string {
  return `operation:${id}:requester${again ? ':again' : ''}`;
}

function cardId(id: string, approver?: string): string {
  return `operation:${id}:card${approver === undefined ? '' : `:${approver}`}`;
}

type StepTrx = { readonly db: Trx; readonly enqueue: Enqueue };

/** Ties a new operation to the step run that asks for it. @throws UserError where the run has asked before or has ended. */
export async function linkStepRun(
  { db }: StepTrx,
  run: string,
  { id, tenant }: { readonly id: string; readonly tenant: string },
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('step_runs')
    .set({ operation_id: id })
    .where((is) => is.and({ id: run, tenant, operation_id: null, closed_at: null }))
    .executeTakeFirst();
  if (numUpdatedRows === 1n) return;
  throw new UserError(
    'This was already answered, or its workflow has ended. Nothing is requested twice.',
    'Run the workflow again, or type `/cdn volume delete`.',
  );
}

/** Tells the waiting step of an operation that has ended, in the transaction in which it ends. */
export async function endStepOf({ db, enqueue }: StepTrx, operation: Operation): Promise<void> {
  if (!hasEnded(operation)) return;
  const rows = db.selectFrom('step_runs').select('id as run').where('operation_id', '=', operation.id);
  const found = await rows.executeTakeFirst();
  if (!found) return;
  const run = { ...found, installation: operation.requester };
  await endStepRun(enqueue, run, { outputs: describeDeletion(operation) }, { in: db });
}
