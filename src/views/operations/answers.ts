import type {
  ApproveAnswer,
  CancelAnswer,
  ConfirmAnswer,
  DenyAnswer,
  Obstacle,
  Operation,
  RetryAnswer,
} from '../../operations/model.ts';
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
  renderState,
} from './describe.ts';

/** The private answers to presses: every press gets one, also one that does nothing. */
export function renderApproveAnswer(answer: ApproveAnswer): Message {
  if (answer.kind === 'approved') {
    const { operation } = answer;
    return operation.state === 'proposed'
      ? say(`Counted: ${describeCount(operation)}. It waits for ${describeMissing(operation)}.`)
      : say(`Approved. It runs now: ${describeRequest(operation)}.`);
  }
  if (answer.kind === 'twice')
    return say(
      `You have approved it already: ${describeCount(answer.operation)}. It waits for ${describeMissing(answer.operation)}.`,
    );
  if (answer.kind !== 'own-request') return renderObstacle(answer);
  return say(
    'You asked for this yourself, so your approval does not count, not even as an admin. Another approver has to approve it.',
    cancelButton(answer.operation),
  );
}

export function renderDenyAnswer(answer: DenyAnswer): Message {
  if (answer.kind === 'denied') {
    return say(`Denied. <@${answer.operation.requester.userId}> reads your reason.`);
  }
  if (answer.kind === 'own-request') {
    return say('You asked for this yourself: cancel it instead.', cancelButton(answer.operation));
  }
  return renderObstacle(answer);
}

export function renderCancelAnswer(answer: CancelAnswer): Message {
  if (answer.kind === 'cancelled') {
    return say(`Cancelled. Nothing was sent to the CDN: ${describeRequest(answer.operation)}.`);
  }
  if (answer.kind === 'not-requester') {
    return say(
      `Only <@${answer.operation.requester.userId}> can cancel this request. Approvers can deny it.`,
      button('Deny', 'approvals:deny', answer.operation.id),
    );
  }
  return renderObstacle(answer);
}

export function renderConfirmAnswer(answer: ConfirmAnswer): Message {
  if (answer.kind !== 'confirmed') return renderObstacle(answer);
  const { operation } = answer;
  return operation.state === 'succeeded'
    ? say(`Noted: it was done. ${describeRequest(operation)}.`)
    : say(
        `Noted: it was not done. ${describeRequest(operation)}.`,
        button('Try again (new approval)', 'approvals:again', operation.id),
      );
}

export function renderRetryAnswer(answer: RetryAnswer): Message {
  switch (answer.kind) {
    case 'proposed':
      return renderProposed(answer.operation);
    case 'not-requester':
      return say(
        `Only <@${answer.operation.requester.userId}> can ask for it again: it would run with their key.`,
      );
    case 'already-retried':
      return say(
        `It was asked for again already: ${renderState(answer.operation.state)}.`,
        commandButton('My requests', 'approvals'),
      );
    case 'not-now':
      return answer.why === 'value-gone'
        ? say('The value is no longer kept. Type it again.', commandButton('Set a variable', 'variable'))
        : say(
            `It is past that: ${renderState(answer.operation.state)}.`,
            commandButton('My requests', 'approvals'),
          );
    case 'not-found':
      return notFound();
  }
}

/** The answer to a new request. */
export function renderProposed(operation: Operation): Message {
  const { approvalsNeeded: needed } = operation;
  if (needed === 0) {
    const outcome = describeOutcome(operation);
    return say(
      `${renderState(operation.state)}: ${describeRequest(operation)}.${outcome ? `\n${outcome}` : ''}`,
    );
  }
  return say(
    `Asked for. It needs *${pluralize(needed, 'approval')}* before ${formatMoment(operation.expiresAt)}: ${describeRequest(operation)}.\nThe bot tells you how it goes, in a direct message.`,
    cancelButton(operation),
  );
}

function renderObstacle(answer: Obstacle): Message {
  switch (answer.kind) {
    case 'not-found':
      return notFound();
    case 'already': {
      const { operation } = answer;
      const { state, movedBy: by, movedAt: at } = operation;
      const whom = by === 'system' || state === 'failed' ? '' : ` by <@${by}>`;
      const approved = operation.approvals.map((one) => `<@${one.by}>`).join(', ');
      const outcome = describeOutcome(operation);
      return say(
        `Already decided. ${renderState(state)}${whom}, ${formatMoment(at)}.${approved ? ` Approved by ${approved}.` : ''}${outcome ? `\n${outcome}` : ''}`,
      );
    }
    case 'expired':
      return say(
        `It expired ${formatMoment(answer.operation.expiresAt)}: nothing was sent to the CDN. <@${answer.operation.requester.userId}> can ask anew.`,
      );
    case 'not-allowed':
      return say(
        `You may not do this here: ${answer.decision.trace
          .filter(({ ok }) => !ok)
          .map(({ says }) => says)
          .join('; ')}.\nAdmins name approvers in \`/cdn settings\`.`,
      );
    case 'void':
      return say(
        `It is void and will not run: ${describeVoidReason(answer.why)}. <@${answer.operation.requester.userId}> can ask anew.`,
      );
  }
}

function notFound(): Message {
  return say(
    'There is no such request here any more. Nothing was done.',
    commandButton('What waits for me', 'approvals'),
  );
}

function say(text: string, ...buttons: Parameters<typeof actions>): Message {
  return message(text, [section(text), ...(buttons.length > 0 ? [actions(...buttons)] : [])]);
}

function cancelButton({ id }: Operation): ReturnType<typeof button> {
  return button('Cancel the request', 'approvals:cancel', id);
}
