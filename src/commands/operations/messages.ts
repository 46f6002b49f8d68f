import { UserError } from '../../errors.ts';
import { minuteMs } from '../../lib/time.ts';
import { endStepRun } from '../../outbox/complete-step.ts';
import { defineMessage, type Ended, type Outbox, type RenderContext } from '../../outbox/outbox.ts';
import { takeLock } from '../../store/database.ts';
import type { Enqueue, JobContext } from '../../store/queue.ts';
import type { Trx } from '../../store/schema.ts';
import {
  renderApprovalCard,
  renderReminder,
  renderRequesterMessage,
  renderUntold,
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
  const messages = await findMessages(tx.db, operation);
  for (const { id } of messages.filter(isAlive)) await tx.outbox.edit(tx.db, id);
  const own = messages.filter(({ id }) => id.startsWith(requesterMessageId(operation.id)));
  if (!own.some(isAlive)) await putSecondMessage(tx, operation);
  const undone = operation.state === 'succeeded' && findUndone(operation.snapshot);
  if (!undone) return;
  const original = await findOperation(tx, operation.tenant, undone);
  if (original) await refreshMessages(tx, original);
}

export async function queueReminder({ outbox, db }: OutboxTrx, operation: Operation): Promise<void> {
  const { tenant, id, requester, expiresAt } = operation;
  const messages = (await findMessages(db, operation)).filter(isAlive);
  for (const { id: parent } of messages.filter((message) => message.id.startsWith(cardId(id))))
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
  async ended(
    trx,
    { about: { tenant, id }, state, reason }: Ended<About>,
    { ports }: JobContext<MessagePorts>,
  ) {
    const tx = { ...ports.ledger, db: trx };
    if (state !== 'sent' && reason !== 'app-gone')
      await putSecondMessage(tx, await findOperation(tx, tenant, id));
  },
  async editFailed(trx, { about: { tenant, id } }, { ports }: JobContext<MessagePorts>) {
    const tx = { ...ports.ledger, db: trx };
    await putSecondMessage(tx, await findOperation(tx, tenant, id));
  },
});

/** The requester reads the outcome even if their message did not arrive, or could not be edited. Put once. */
async function putSecondMessage(tx: OutboxTrx, operation: Operation | undefined): Promise<void> {
  if (!operation || !hasEnded(operation)) return;
  await putMessage(tx, operation, requesterMessageId(operation.id, 'again'), operation.requester.userId);
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
    if (ended.state === 'sent' || ended.reason === 'app-gone') return;
    const operation = await findOperation(tx, tenant, id);
    if (!operation || operation.approvalsNeeded === 0) return;
    // The bot cannot, must not, or may not have written to the channel: every approver gets the card.
    if (ended.id === cardId(id)) return queueDirectCards(tx, operation);
    // Of two that end at once the second sees the first.
    await takeLock(trx, cardId(id));
    const cards = selectMessages(trx, operation).where('id', 'like', `${cardId(id)}:%`);
    if (operation.state === 'proposed' && !(await cards.execute()).some(isAlive))
      await putUntold(tx, operation, ended);
  },
});

/** No approver got the card: the requester can tell them. */
async function putUntold(
  { outbox, db }: OutboxTrx,
  { tenant, id, requester, expiresAt }: Operation,
  { code = 'no_answer' }: Ended<About>,
): Promise<void> {
  await outbox.put(db, {
    id: `operation:${id}:untold`,
    kind: untoldNotice,
    about: { tenant, id, code },
    installation: requester,
    to: { places: [requester.userId] },
    doubt: 'retry',
    expiresAt,
  });
}

const untoldNotice = defineMessage({
  kind: 'operation-untold',
  async render(
    { tenant, id, code }: About & { readonly code: string },
    { ports, db }: RenderContext<MessagePorts>,
  ) {
    const operation = await findOperation({ ...ports.ledger, db }, tenant, id);
    return operation?.state === 'proposed' ? renderUntold(operation, code) : undefined;
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

export const variableForm = defineMessage<FormAbout, MessagePorts>({
  kind: 'variable-form',
  // Without its button it is no form.
  renderInstead: 'nothing',
});

export const operationMessages = [
  approvalCard,
  approvalReminder,
  requesterMessage,
  untoldNotice,
  variableForm,
];

type StoredMessage = { readonly id: string; readonly state: string };

async function findMessages(db: Trx, operation: Operation): Promise<StoredMessage[]> {
  const messages = selectMessages(db, operation);
  // Waits for messages that are just ending, so that those which replace them are found below.
  await messages.forUpdate().execute();
  return messages.execute();
}

function selectMessages(db: Trx, { id, approvers }: Operation) {
  const ids = [
    requesterMessageId(id),
    requesterMessageId(id, 'again'),
    cardId(id),
    ...approvers.map((approver) => cardId(id, approver)),
  ];
  return db.selectFrom('outbox').select(['id', 'state']).where('id', 'in', ids).orderBy('id');
}

function isAlive({ state }: StoredMessage): boolean {
  return ['due', 'sending', 'sent'].includes(state);
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
