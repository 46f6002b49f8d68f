import type { Button, KnownBlock } from '@slack/types';
import { actions, context, type Message, message, section } from '../blocks/blocks.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import { formatMoment, pluralize } from '../blocks/format.ts';
import { selectOf } from '../blocks/menu-of-buttons.ts';
import { capitalize, join, truncateLines } from '../blocks/text.ts';
import { canCancel, decisionButtons } from './approvals.ts';
import { describeMissing, nameInPlainText, renderState, type ShownOperation } from './describe.ts';

export interface ApprovalLists {
  readonly waiting: readonly ShownOperation[];
  readonly requested: readonly ShownOperation[];
  readonly isApprover: boolean;
}

/** The requests that wait for a person's approval, and those that the person made. `done`: the result of a press in it. */
export function renderApprovalList(
  { waiting, requested, isApprover }: ApprovalLists,
  asOf: Date,
  done?: string,
): Message {
  const text = waiting.length === 0 ? 'Nothing waits for your approval' : countWaiting(waiting);
  const mine = requested.length === 0 ? 'You have not asked for anything lately.' : '*You asked to*';
  return message(text, [
    done && section(done),
    section([
      `*${text}*`,
      !isApprover && 'You are not an approver. Admins name approvers in `/cdn settings`.',
    ]),
    ...renderWaiting(waiting, true),
    section(truncateLines([mine, ...requested.map(renderLine)], 2800)),
    actions(
      selectOf('Cancel or record…', requested.flatMap(renderChoice)),
      commandButton('Refresh', 'approvals'),
    ),
    context(`as of ${formatMoment(asOf)}`),
  ]);
}

/** `1 request waits for your approval` */
function countWaiting(waiting: readonly unknown[]): string {
  return `${capitalize(pluralize(waiting.length, 'request'))} ${waiting.length === 1 ? 'waits' : 'wait'} for your approval`;
}

function renderLine(operation: ShownOperation): string {
  return `${operation.words.what}\n${renderState(operation)} · ${formatMoment(operation.movedAt)}`;
}

function renderChoice(operation: ShownOperation): Button[] {
  const label = nameInPlainText(operation);
  if (canCancel(operation)) return [button(`Cancel: ${label}`, 'approvals:cancel', operation.id)];
  return operation.state === 'unknown'
    ? [button(`Record what I found: ${label}`, 'approvals:check', operation.id)]
    : [];
}

/** For the Home tab: what waits for the person, and how many of their own requests are open. */
export function renderHomeSection(waiting: readonly ShownOperation[], open: number): KnownBlock[] {
  const yours = open > 0 && `${pluralize(open, 'request')} of yours ${open === 1 ? 'is' : 'are'} open`;
  return [
    section(
      join([waiting.length > 0 && `*${countWaiting(waiting)}*`, yours], ' · '),
      commandButton('Approvals', 'approvals'),
    ),
    ...renderWaiting(waiting, false),
  ];
}

const mostListed = 8;

function renderWaiting(waiting: readonly ShownOperation[], isListed: boolean): KnownBlock[] {
  const blocks = waiting.slice(0, mostListed).flatMap((operation) => renderOpen(operation, isListed));
  const more = waiting.length - mostListed;
  return more > 0 ? [...blocks, context(`and ${more} more: see the approval channel`)] : blocks;
}

/** A request of somebody else, with the buttons that decide it. */
function renderOpen(operation: ShownOperation, isListed = false): KnownBlock[] {
  return [
    section(
      `<@${operation.requester.userId}>: ${operation.words.what}\nneeds ${describeMissing(operation)} · expires ${formatMoment(operation.expiresAt)}`,
    ),
    actions(...decisionButtons(operation, isListed)),
  ];
}
