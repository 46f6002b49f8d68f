import type { Button, KnownBlock } from '@slack/types';
import type { Operation } from '../../commands/operations/model.ts';
import { actions, context, type Message, message, section } from '../blocks/blocks.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import { formatMoment, pluralize } from '../blocks/format.ts';
import { selectOf } from '../blocks/menu-of-buttons.ts';
import { renderTable } from '../blocks/table.ts';
import { capitalize, plainText } from '../blocks/text.ts';
import { canCancel, checkButton, decisionButtons } from './approvals.ts';
import {
  describeMissing,
  describeRequest,
  describeRequestPlainly,
  describeState,
  states,
} from './describe.ts';

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
  const text =
    waiting.length === 0
      ? 'Nothing waits for your approval'
      : `${capitalize(pluralize(waiting.length, 'request'))} ${waiting.length === 1 ? 'waits' : 'wait'} for your approval`;
  const mine = requested.length === 0 ? 'You have asked for nothing lately.' : '';
  return message(text, [
    done && section(done),
    section([`*${text}*`, !isApprover && 'Admins name approvers in `/cdn settings`: you are not one.', mine]),
    ...renderWaiting(waiting, 'approvals:approve-listed'),
    ...renderTable({
      caption: 'What you asked for',
      columns: ['You asked to', 'State', 'When'],
      rows: requested.map((operation) => [
        describeRequestPlainly(operation, plainText),
        describeState(operation),
        { at: operation.movedAt },
      ]),
    }),
    actions(
      selectOf('Cancel or record…', requested.flatMap(renderChoice)),
      commandButton('Refresh', 'approvals'),
    ),
    context(`as of ${formatMoment(asOf)}`),
  ]);
}

function renderChoice(operation: Operation): Button[] {
  const label = describeRequestPlainly(operation, plainText);
  if (canCancel(operation)) return [button(`Cancel: ${label}`, 'approvals:cancel', operation.id)];
  return operation.state === 'unknown'
    ? [button(`Record what I found: ${label}`, 'approvals:check', operation.id)]
    : [];
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
      actions(...decisionButtons(operation, approveId)),
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
