import type {
  ApproveAnswer,
  CancelAnswer,
  ConfirmAnswer,
  DenyAnswer,
  Obstacle,
  TryAgainAnswer,
} from '../auth/operations.ts';
import type { Operation } from '../auth/operations-model.ts';
import { actions, button, message, section, typing } from './blocks.ts';
import { moment } from './dates.ts';
import type { Message } from './message.ts';
import { askedFor, outcomeWords, stateLine, voidWords } from './operations.ts';
import { count } from './text.ts';

/** Every click gets one of these, privately: what it did, or why it did nothing. */
export function approveAnswer(answer: ApproveAnswer): Message {
  if (answer.kind === 'approved') {
    return answer.have < answer.need
      ? say(
          `Counted: ${answer.have} of ${answer.need}. It waits for ${count(answer.need - answer.have, 'further approval')}.`,
        )
      : say(`Approved. It runs now: ${askedFor(answer.operation)}.`);
  }
  if (answer.kind === 'own-request') {
    return say(
      'You asked for this yourself, so your approval does not count; that holds for admins too. Somebody else has to approve it.',
      button('Cancel the request', 'approvals:cancel', answer.operation.id),
    );
  }
  if (answer.kind === 'twice') {
    return say(
      `You have approved it already: ${answer.have} of ${answer.need}. It waits for ${count(answer.need - answer.have, 'other person', 'other people')}.`,
    );
  }
  return obstacle(answer);
}

export function denyAnswer(answer: DenyAnswer): Message {
  if (answer.kind === 'denied') {
    return say(`Denied. <@${answer.operation.requester.userId}> reads your reason.`);
  }
  if (answer.kind === 'own-request') {
    return say(
      'You asked for this yourself: cancel it instead.',
      button('Cancel the request', 'approvals:cancel', answer.operation.id),
    );
  }
  return obstacle(answer);
}

export function cancelAnswer(answer: CancelAnswer): Message {
  if (answer.kind === 'cancelled') {
    return say(`Cancelled. Nothing was sent to the CDN: ${askedFor(answer.operation)}.`);
  }
  if (answer.kind === 'not-requester') {
    return say(
      `Only <@${answer.operation.requester.userId}> can cancel this request. Approvers can deny it.`,
      button('Deny', 'approvals:deny', answer.operation.id),
    );
  }
  return obstacle(answer);
}

export function confirmAnswer(answer: ConfirmAnswer): Message {
  if (answer.kind !== 'confirmed') return obstacle(answer);
  const { operation } = answer;
  return operation.state === 'succeeded'
    ? say(`Noted: it was done. ${askedFor(operation)}.`)
    : say(
        `Noted: it was not done. ${askedFor(operation)}.`,
        button('Try again (new approval)', 'approvals:again', operation.id),
      );
}

export function tryAgainAnswer(answer: TryAgainAnswer): Message {
  switch (answer.kind) {
    case 'proposed':
      return proposed(answer.operation);
    case 'not-requester':
      return say(
        `Only <@${answer.operation.requester.userId}> can ask for it again: it would run with their key.`,
      );
    case 'already-again':
      return say(
        `It was asked for again already: ${stateLine(answer.operation.state)}.`,
        typing('My requests', 'approvals'),
      );
    case 'not-now':
      return answer.why === 'value-gone'
        ? say('The value is no longer kept. Type it again.', typing('Set a variable', 'variable'))
        : say(`It is past that: ${stateLine(answer.operation.state)}.`, typing('My requests', 'approvals'));
    case 'not-found':
      return notFound();
  }
}

/** What somebody reads who has just asked for something. */
export function proposed(operation: Operation): Message {
  const { approvalsNeeded: needed } = operation;
  if (needed === 0) {
    const outcome = outcomeWords(operation);
    return say(`${stateLine(operation.state)}: ${askedFor(operation)}.${outcome ? `\n${outcome}` : ''}`);
  }
  return say(
    `Asked for. It needs *${count(needed, 'approval')}* before ${moment(operation.expiresAt)}: ${askedFor(operation)}.\nThe bot tells you how it goes, in a direct message.`,
    button('Cancel the request', 'approvals:cancel', operation.id),
  );
}

function obstacle(answer: Obstacle): Message {
  switch (answer.kind) {
    case 'not-found':
      return notFound();
    case 'already': {
      const { operation, by, at, state } = answer;
      const whom = by === 'system' || state === 'failed' ? '' : ` by <@${by}>`;
      const approved = operation.approvals.map((one) => `<@${one.by}>`).join(', ');
      const outcome = outcomeWords(operation);
      return say(
        `Too late, nothing more happens by this click. ${stateLine(state)}${whom}, ${moment(at)}.${approved ? ` Approved by ${approved}.` : ''}${outcome ? `\n${outcome}` : ''}`,
      );
    }
    case 'expired':
      return say(
        `It expired ${moment(answer.operation.expiresAt)}: nothing was sent to the CDN. <@${answer.operation.requester.userId}> can ask anew.`,
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
        `It is void and will not run: ${voidWords(answer.why)}. <@${answer.operation.requester.userId}> can ask anew.`,
      );
  }
}

function notFound(): Message {
  return say(
    'There is no such request here any more. Nothing was done.',
    typing('What waits for me', 'approvals'),
  );
}

function say(text: string, ...buttons: Parameters<typeof actions>): Message {
  return message(text, [section(text), ...(buttons.length > 0 ? [actions(...buttons)] : [])]);
}
