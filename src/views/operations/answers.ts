import type { Button } from '@slack/types';
import type { Answer, Operation } from '../../commands/operations/model.ts';
import { actions, type Message, say } from '../blocks/blocks.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import { formatMoment, pluralize } from '../blocks/format.ts';
import {
  describeCount,
  describeMissing,
  describeOutcome,
  describeRequest,
  describeVoidReason,
  retryButton,
  states,
} from './describe.ts';

/** The private answer to a press: every press gets one, also one that does nothing. */
export function renderAnswer(answer: Answer): Message {
  if (answer.kind === 'not-found')
    return reply(
      'There is no such request here any more. Nothing was done.',
      commandButton('What waits for me', 'approvals'),
    );
  const { operation } = answer;
  const { id, state } = operation;
  const request = describeRequest(operation);
  const requester = `<@${operation.requester.userId}>`;
  const progress = `${describeCount(operation)}. It waits for ${describeMissing(operation)}.`;
  const myRequests = commandButton('My requests', 'approvals');
  switch (answer.kind) {
    case 'approved':
      return reply(state === 'proposed' ? `Counted: ${progress}` : `Approved. It runs now: ${request}.`);
    case 'twice':
      return reply(`You have approved it already: ${progress}`);
    case 'denied':
      return reply(`Denied. ${requester} reads your reason.`);
    case 'cancelled':
      return reply(`Cancelled. Nothing was sent to the CDN: ${request}.`);
    case 'confirmed':
      return state === 'succeeded'
        ? reply(`Noted as done: ${request}.`)
        : reply(`Noted as not done: ${request}.`, retryButton(id));
    case 'proposed':
      return renderProposed(operation);
    case 'own-request':
      return reply(
        answer.press === 'approve'
          ? 'You asked for this yourself, so your approval does not count, not even as an admin. Another approver has to approve it.'
          : 'You asked for this yourself: cancel it instead.',
        cancelButton(id),
      );
    case 'not-requester':
      return answer.press === 'cancel'
        ? reply(
            `Only ${requester} can cancel this request. Approvers can deny it.`,
            button('Deny', 'approvals:deny', id),
          )
        : reply(`Only ${requester} can ask for it again: it would run with their key.`);
    case 'already-retried':
      return reply(`It was asked for again already: ${states[state]}.`, myRequests);
    case 'not-now':
      return answer.why === 'value-gone'
        ? reply('The value is no longer kept. Type it again.', commandButton('Set a variable', 'variable'))
        : reply(`It is past that: ${states[state]}.`, myRequests);
    case 'already':
      return reply(describeDecision(operation));
    case 'expired':
      return reply(
        `It expired ${formatMoment(operation.expiresAt)}: nothing was sent to the CDN. ${requester} can ask anew.`,
      );
    case 'not-allowed': {
      const refused = answer.decision.trace.filter(({ ok }) => !ok).map(({ says }) => says);
      return reply(
        `You may not do this here: ${refused.join('; ')}.\nAdmins name approvers in \`/cdn settings\`.`,
      );
    }
    case 'void':
      return reply(
        `It is void and will not run: ${describeVoidReason(answer.why)}. ${requester} can ask anew.`,
      );
  }
}

/** The answer to a new request. */
export function renderProposed(operation: Operation): Message {
  const { id, state, approvalsNeeded, expiresAt } = operation;
  const request = describeRequest(operation);
  if (approvalsNeeded === 0) {
    const outcome = describeOutcome(operation);
    // Names what was set, so that the request would say it twice.
    if (state === 'succeeded') return reply(`:white_check_mark: ${outcome}`);
    return reply(`${states[state]}: ${request}.${outcome ? `\n${outcome}` : ''}`);
  }
  return reply(
    `Asked for. It needs *${pluralize(approvalsNeeded, 'approval')}* before ${formatMoment(expiresAt)}: ${request}.\nThe bot tells you how it goes, in a direct message.`,
    cancelButton(id),
  );
}

function describeDecision(operation: Operation): string {
  const { state, movedBy, movedAt, approvals } = operation;
  const by = movedBy === 'system' || state === 'failed' ? '' : ` by <@${movedBy}>`;
  const approvers = approvals.map((approval) => `<@${approval.by}>`).join(', ');
  const outcome = describeOutcome(operation);
  return `Already decided. ${states[state]}${by}, ${formatMoment(movedAt)}.${approvers ? ` Approved by ${approvers}.` : ''}${outcome ? `\n${outcome}` : ''}`;
}

function reply(text: string, ...buttons: Button[]): Message {
  return say(text, actions(...buttons));
}

function cancelButton(id: string): Button {
  return button('Cancel the request', 'approvals:cancel', id);
}
