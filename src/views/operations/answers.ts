import type { Answer, Operation } from '../../operations/model.ts';
import { actions, button, commandButton, message, section } from '../blocks/blocks.ts';
import { formatMoment } from '../blocks/dates.ts';
import type { Message } from '../blocks/message.ts';
import { pluralize } from '../blocks/text.ts';
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
    return say(
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
      return say(state === 'proposed' ? `Counted: ${progress}` : `Approved. It runs now: ${request}.`);
    case 'twice':
      return say(`You have approved it already: ${progress}`);
    case 'denied':
      return say(`Denied. ${requester} reads your reason.`);
    case 'cancelled':
      return say(`Cancelled. Nothing was sent to the CDN: ${request}.`);
    case 'confirmed':
      return state === 'succeeded'
        ? say(`Noted: it was done. ${request}.`)
        : say(`Noted: it was not done. ${request}.`, retryButton(id));
    case 'proposed':
      return renderProposed(operation);
    case 'own-request':
      return say(
        answer.press === 'approve'
          ? 'You asked for this yourself, so your approval does not count, not even as an admin. Another approver has to approve it.'
          : 'You asked for this yourself: cancel it instead.',
        cancelButton(id),
      );
    case 'not-requester':
      return answer.press === 'cancel'
        ? say(
            `Only ${requester} can cancel this request. Approvers can deny it.`,
            button('Deny', 'approvals:deny', id),
          )
        : say(`Only ${requester} can ask for it again: it would run with their key.`);
    case 'already-retried':
      return say(`It was asked for again already: ${states[state]}.`, myRequests);
    case 'not-now':
      return answer.why === 'value-gone'
        ? say('The value is no longer kept. Type it again.', commandButton('Set a variable', 'variable'))
        : say(`It is past that: ${states[state]}.`, myRequests);
    case 'already':
      return say(describeDecision(operation));
    case 'expired':
      return say(
        `It expired ${formatMoment(operation.expiresAt)}: nothing was sent to the CDN. ${requester} can ask anew.`,
      );
    case 'not-allowed': {
      const refused = answer.decision.trace.filter(({ ok }) => !ok).map(({ says }) => says);
      return say(
        `You may not do this here: ${refused.join('; ')}.\nAdmins name approvers in \`/cdn settings\`.`,
      );
    }
    case 'void':
      return say(
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
    return say(`${states[state]}: ${request}.${outcome ? `\n${outcome}` : ''}`);
  }
  return say(
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

function say(text: string, ...buttons: Parameters<typeof actions>): Message {
  return message(text, [section(text), ...(buttons.length > 0 ? [actions(...buttons)] : [])]);
}

function cancelButton(id: string): ReturnType<typeof button> {
  return button('Cancel the request', 'approvals:cancel', id);
}
