import type { Button, KnownBlock } from '@slack/types';
import type { Operation } from '../../operations/model.ts';
import { actions, context, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, commandButton, confirmation, connectButton } from '../blocks/buttons.ts';
import { formatMoment, pluralize } from '../blocks/format.ts';
import { escapeMrkdwn, formatCode, join, type Maybe } from '../blocks/text.ts';
import {
  describeCount,
  describeMissing,
  describeOutcome,
  describeRequest,
  describeRequestPlainly,
  describeState,
  renderConsequences,
  retryButton,
  states,
} from './describe.ts';

/** The approvers' card: the request, the requester, the consequences, and two buttons while it waits. */
export function renderApprovalCard(operation: Operation, approvers: readonly string[]): Message {
  const requester = `<@${operation.requester.userId}>`;
  const waits = operation.state === 'proposed';
  const text = waits
    ? `${requester} asks to ${describeRequestPlainly(operation)}. It needs ${describeMissing(operation)}.`
    : `${describeRequestPlainly(operation)}: ${describeState(operation)}`;
  return message(text, [
    section(`${requester} ${waits ? 'asks to' : 'asked to'} *${describeRequest(operation)}*`),
    reasonBlock(operation),
    section(renderConsequences(operation)),
    section(renderProgress(operation)),
    waits ? approveButtons(operation) : nextSteps(operation),
    waits && approvers.length > 0 && context(`For ${mention(approvers)}`),
    sealLine(operation),
  ]);
}

/** The notice in the channel of a change that needed no approval. */
export function renderChangeNotice(operation: Operation): Message {
  const { id, state, requester } = operation;
  const outcome = describeOutcome(operation);
  const text = `<@${requester.userId}>: ${describeRequestPlainly(operation)}, ${describeState(operation)}`;
  return message(text, [
    section([`<@${requester.userId}>: ${describeRequest(operation)}`, states[state], outcome]),
    state === 'unknown' && actions(checkButton(id)),
    sealLine(operation),
  ]);
}

/** The requester's own message, one for the whole life of the request. */
export function renderRequesterMessage(
  operation: Operation,
  undo: 'possible' | 'unknown-value' | 'no',
): Message {
  const { id, outcome } = operation;
  return message(`Your request to ${describeRequestPlainly(operation)}: ${describeState(operation)}`, [
    section(`*Your request:* ${describeRequest(operation)}`),
    reasonBlock(operation),
    section(renderProgress(operation)),
    canCancel(operation)
      ? actions(button('Cancel the request', 'approvals:cancel', id))
      : nextSteps(operation),
    outcome?.word === 'key-refused' && actions(connectButton('Connect the current key')),
    undo === 'possible' && actions(button('Undo (within 30 minutes)', 'variables:undo', id)),
    undo === 'unknown-value' &&
      context(
        'No undo: the value before is not known here. The CDN does not tell it, and the bot has not set it before.',
      ),
    sealLine(operation),
  ]);
}

/** The reminder below the card, which has the buttons. */
export function renderReminder(operation: Operation, approvers: readonly string[]): Message {
  const { requester, expiresAt } = operation;
  const text = `:hourglass_flowing_sand: ${mention(approvers)} This still waits: <@${requester.userId}> asks to ${describeRequestPlainly(operation)}. It needs ${describeMissing(operation)} and expires ${formatMoment(expiresAt)}.`;
  return say(text);
}

export interface ApprovalLists {
  readonly waiting: readonly Operation[];
  readonly requested: readonly Operation[];
  readonly isApprover: boolean;
}

/** The requests that wait for a person's approval, and those that the person made. `done`: the result of a press in it. */
export function renderApprovalList(
  { waiting, requested, isApprover }: ApprovalLists,
  asOf: Date,
  done?: string,
): Message {
  const [requests, wait] = [pluralize(waiting.length, 'request'), waiting.length === 1 ? 'waits' : 'wait'];
  const text = `${requests} ${wait} for you. You asked for ${pluralize(requested.length, 'change')} lately.`;
  return message(text, [
    done && section(done),
    section(
      waiting.length === 0 ? '*Nothing waits for your approval*' : `*${requests}* ${wait} for your approval`,
    ),
    ...renderWaiting(waiting, 'approvals:approve-listed'),
    !isApprover && context('You are not an approver: admins name them in `/cdn settings`.'),
    section(`*What you asked for:* ${requested.length === 0 ? 'nothing yet' : ''}`),
    ...renderRequested(requested),
    context(`As of ${formatMoment(asOf)}.`),
    actions(commandButton('Refresh', 'approvals')),
  ]);
}

/** For the Home tab: only what can be acted on. */
export function renderHomeSection(waiting: readonly Operation[], open: readonly Operation[]): KnownBlock[] {
  return [
    section(
      `*Approvals:* ${pluralize(waiting.length, 'request')} ${waiting.length === 1 ? 'waits' : 'wait'} for you, ${pluralize(open.length, 'request')} of yours ${open.length === 1 ? 'is' : 'are'} open`,
      commandButton('All approvals', 'approvals'),
    ),
    ...renderWaiting(waiting, 'approvals:approve'),
    ...renderRequested(open),
  ];
}

const mostListed = 8;

function renderWaiting(waiting: readonly Operation[], approveId: string): KnownBlock[] {
  const blocks = waiting
    .slice(0, mostListed)
    .flatMap((operation) => [
      section(
        `<@${operation.requester.userId}>: ${describeRequest(operation)}\nneeds ${describeMissing(operation)} · expires ${formatMoment(operation.expiresAt)}`,
      ),
      approveButtons(operation, approveId),
    ]);
  const more = waiting.length - mostListed;
  return more > 0 ? [...blocks, context(`and ${more} more: they are in the approval channel`)] : blocks;
}

function renderRequested(requested: readonly Operation[]): KnownBlock[] {
  const blocks = requested.slice(0, mostListed).map((operation) => {
    const { id, state, movedAt } = operation;
    const text = `${describeRequest(operation)}\n${states[state]} · ${formatMoment(movedAt)}`;
    if (canCancel(operation)) return section(text, button('Cancel', 'approvals:cancel', id));
    return section(text, state === 'unknown' ? checkButton(id) : undefined);
  });
  const more = requested.length - mostListed;
  return more > 0 ? [...blocks, context(`and ${more} more`)] : blocks;
}

function canCancel({ state }: Operation): boolean {
  return state === 'proposed' || state === 'approved';
}

function approveButtons({ id, request }: Operation, approveId = 'approvals:approve'): KnownBlock {
  const isIrreversible = request.kind === 'volume-delete';
  const style = isIrreversible ? 'danger' : 'primary';
  const warning = isIrreversible
    ? 'The volume is deleted as soon as enough have approved. It cannot be undone.'
    : 'The variable is changed as soon as enough have approved.';
  const confirm = { ...confirmation('Approve it?', warning, 'Approve', 'Back'), style } as const;
  return actions(button('Approve', approveId, id, { style, confirm }), button('Deny', 'approvals:deny', id));
}

function checkButton(id: string): Button {
  return button('Check and say', 'approvals:check', id, { style: 'primary' });
}

/** Next steps after an end. */
function nextSteps({ id, state, triedAgainAs }: Operation): KnownBlock {
  const canRetry = triedAgainAs === undefined && ['unknown', 'failed', 'expired'].includes(state);
  return actions(state === 'unknown' && checkButton(id), canRetry && retryButton(id));
}

function reasonBlock({ reason }: Operation): Maybe<KnownBlock> {
  return reason && section(`Reason: ${escapeMrkdwn(reason, 500)}`);
}

function renderProgress(operation: Operation): string {
  const { approvals, approvalsNeeded, state, movedAt, movedBy, expiresAt } = operation;
  const given = approvals.map(({ by }) => `<@${by}>`).join(', ');
  const outcome = describeOutcome(operation);
  const isByPerson = movedBy !== 'system' && (state === 'denied' || state === 'cancelled');
  const noun = approvalsNeeded === 1 ? 'approval' : 'approvals';
  const lines = [
    `*${states[state]}*${isByPerson ? ` by <@${movedBy}>` : ''} · ${formatMoment(movedAt)}`,
    outcome,
    approvalsNeeded > 0 && `${describeCount(operation)} ${noun}${given && `: ${given}`}`,
    state === 'proposed' && `Expires ${formatMoment(expiresAt)}`,
  ];
  return join(lines, '\n');
}

/** The audit records have the same seal. */
function sealLine({ seal, createdAt, keyFingerprint }: Operation): KnownBlock {
  const key = keyFingerprint === undefined ? '' : ` with the key ${formatCode(keyFingerprint)}`;
  return context(`Asked ${formatMoment(createdAt)}${key} · seal ${formatCode(seal.slice(0, 12))}`);
}

function mention(userIds: readonly string[]): string {
  return userIds.map((id) => `<@${id}>`).join(' ');
}
