import type { Button } from '@slack/types';
import { actions, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, commandButton, confirmation } from '../blocks/buttons.ts';
import { formatMoment, pluralize } from '../blocks/format.ts';
import { escapeMrkdwn, formatCode, plainText } from '../blocks/text.ts';
import { cancelButton } from './approvals.ts';
import {
  describeCount,
  describeMissing,
  describeOutcome,
  describeVoidReason,
  describeVolumeConsequences,
  renderState,
  retryButtons,
  type ShownOperation,
  undoButton,
  type VolumeShown,
} from './describe.ts';

export type ShownAnswer<Shown = ShownOperation> =
  | { readonly kind: 'not-found' }
  | ({ readonly operation: Shown } & (
      | {
          readonly kind: 'approved' | 'denied' | 'cancelled' | 'confirmed' | 'expired' | 'already' | 'twice';
        }
      | { readonly kind: 'void'; readonly why: string }
      | { readonly kind: 'own-request'; readonly press: 'approve' | 'deny' }
      | { readonly kind: 'not-requester'; readonly press: 'cancel' | 'confirm' }
    ));

/** The private answer to a press: every press gets one, also one that does nothing. */
export function renderAnswer(answer: ShownAnswer): Message {
  if (answer.kind === 'not-found')
    return reply(
      'This request no longer exists. Nothing was done.',
      commandButton('Waiting for me', 'approvals'),
    );
  const { operation } = answer;
  const { id, state } = operation;
  const request = operation.words.what;
  const requester = `<@${operation.requester.userId}>`;
  const progress = `${describeCount(operation)}. It still needs ${describeMissing(operation)}.`;
  switch (answer.kind) {
    case 'approved':
      return reply(state === 'proposed' ? `Counted: ${progress}` : `Approved. It runs now: ${request}.`);
    case 'twice':
      return reply(`You already approved this: ${progress}`);
    case 'denied':
      return reply(
        operation.outcome?.reason
          ? `Denied. ${requester} sees your reason.`
          : `Rejected. ${requester} is notified.`,
      );
    case 'cancelled':
      return reply(`Cancelled. Nothing was changed: ${request}.`);
    case 'confirmed':
      return state === 'succeeded'
        ? reply(`Noted as done: ${request}.`)
        : reply(`Noted as not done: ${request}.`, ...retryButtons(operation));
    case 'own-request':
      return reply(
        answer.press === 'approve'
          ? 'You requested this, so you can’t approve it, even as an admin. Another approver has to.'
          : 'You requested this: cancel it instead.',
        cancelButton(id),
      );
    case 'not-requester': {
      if (answer.press === 'confirm')
        return reply(`Only ${requester} can confirm this: it was asked for in their name.`);
      const deny = button('Deny', 'approvals:deny', id);
      return reply(`Only ${requester} can cancel this request. Approvers can deny it.`, deny);
    }
    case 'already':
      return reply(describeDecision(operation));
    case 'expired':
      return reply(
        `It expired ${formatMoment(operation.expiresAt)}. Nothing was changed. ${requester} can ask again.`,
      );
    case 'void':
      return reply(
        `It is void and will not run: ${describeVoidReason(answer.why)}. ${requester} can ask again.`,
      );
  }
}

/** The answer to a new request. `canUndo`: a button may restore what was there before. */
export function renderProposed(operation: ShownOperation, canUndo = false): Message {
  const { id, state, approvalsNeeded, expiresAt, words } = operation;
  const request = words.what;
  if (approvalsNeeded === 0) {
    const outcome = describeOutcome(operation);
    if (outcome && state === 'succeeded')
      return reply(
        `${/^:\w+:/u.exec(renderState(operation))?.[0]} ${outcome}`,
        ...(canUndo ? [undoButton(id)] : []),
      );
    return reply(`${renderState(operation)}: ${request}.${outcome ? `\n${outcome}` : ''}`);
  }
  return reply(
    `Requested: ${request}. It needs *${pluralize(approvalsNeeded, 'approval')}* before ${formatMoment(expiresAt)}.\nThe bot tells you how it goes, in a direct message.`,
    cancelButton(id),
  );
}

export function renderUndoOffer({ id, words, movedAt }: ShownOperation): Message {
  return reply(`Your last change: ${words.what}, ${formatMoment(movedAt)}.`, undoButton(id));
}

function describeDecision(operation: ShownOperation): string {
  const { state, movedBy, movedAt, approvals } = operation;
  const by = movedBy === 'system' || state === 'failed' ? '' : ` by <@${movedBy}>`;
  const approvers = approvals.map((approval) => `<@${approval.by}>`).join(', ');
  const outcome = describeOutcome(operation);
  return `Already decided. ${renderState(operation)}${by}, ${formatMoment(movedAt)}.${approvers ? ` Approved by ${approvers}.` : ''}${outcome ? `\n${outcome}` : ''}`;
}

function reply(text: string, ...buttons: Button[]): Message {
  return say(text, actions(...buttons));
}

export interface StepRequest {
  readonly run: string;
  readonly appId: string;
  readonly volumeId: string;
  readonly reason: string;
}

export function renderStepRequest(asked: StepRequest, shown: VolumeShown, until: Date): Message {
  const { appId, volumeId, reason } = asked;
  const value = JSON.stringify(asked);
  const what = `${plainText(volumeId, 60)} of app ${plainText(appId, 60)}`;
  return message(`A workflow that you ran asks to delete volume ${escapeMrkdwn(what, 140)}.`, [
    section([
      `A workflow that you ran asks to *delete volume ${formatCode(volumeId, 60)} of app ${formatCode(appId, 60)}, every instance*`,
      `> ${escapeMrkdwn(reason, 500)}`,
    ]),
    section(describeVolumeConsequences(shown)),
    section(
      `No approval needed: *Delete it* runs at once, with your key. Without an answer the request expires ${formatMoment(until)}.`,
    ),
    actions(
      button('Delete it', 'steps:confirm', value, {
        style: 'danger',
        confirm: confirmation(
          'Delete this volume?',
          `Volume ${what}, every instance. This cannot be undone: there is no backup.`,
          'Delete it',
          'Not now',
        ),
      }),
      button('Do not delete', 'steps:reject', value),
    ),
  ]);
}
