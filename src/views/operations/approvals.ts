import type { KnownBlock } from '@slack/types';
import type { Operation } from '../../operations/model.ts';
import {
  actions,
  button,
  commandButton,
  connectButton,
  context,
  message,
  plain,
  section,
} from '../blocks/blocks.ts';
import { formatMoment } from '../blocks/dates.ts';
import type { Message } from '../blocks/message.ts';
import { escapeMrkdwn, formatCode, pluralize } from '../blocks/text.ts';
import {
  describeCount,
  describeMissing,
  describeOutcome,
  describeRequest,
  describeRequestPlainly,
  describeState,
  renderConsequences,
  renderState,
} from './describe.ts';

/** The approvers' card: the request, the requester, the consequences, and two buttons while it waits. */
export function renderApprovalCard(
  operation: Operation,
  audience: { readonly approvers: readonly string[] },
): Message {
  const { requester, state } = operation;
  const waits = state === 'proposed';
  const text = waits
    ? `<@${requester.userId}> asks to ${describeRequestPlainly(operation)}. It needs ${describeMissing(operation)}.`
    : `${describeRequestPlainly(operation)}: ${describeState(operation)}`;
  return message(text, [
    section(`<@${requester.userId}> ${waits ? 'asks to' : 'asked to'} *${describeRequest(operation)}*`),
    ...reasonBlock(operation),
    section(renderConsequences(operation)),
    section(progress(operation)),
    ...(waits ? [approveButtons(operation)] : followUp(operation)),
    ...(waits && audience.approvers.length > 0
      ? [context(`For ${audience.approvers.map((id) => `<@${id}>`).join(' ')}`)]
      : []),
    sealLine(operation),
  ]);
}

/** The notice in the channel of a change that needed no approval. */
export function renderChangeNotice(operation: Operation): Message {
  const { requester } = operation;
  const outcome = describeOutcome(operation);
  return message(
    `<@${requester.userId}>: ${describeRequestPlainly(operation)}, ${describeState(operation)}`,
    [
      section(
        `<@${requester.userId}>: ${describeRequest(operation)}\n${renderState(operation.state)}${outcome ? `\n${outcome}` : ''}`,
      ),
      ...(operation.state === 'unknown' ? [actions(checkButton(operation))] : []),
      sealLine(operation),
    ],
  );
}

/** The requester's own message, one for the whole life of the request. */
export function renderRequesterMessage(
  operation: Operation,
  extra: { readonly undo: 'possible' | 'unknown-value' | 'no' },
): Message {
  const { state } = operation;
  const waits = state === 'proposed' || state === 'approved';
  return message(`Your request to ${describeRequestPlainly(operation)}: ${describeState(operation)}`, [
    section(`*Your request:* ${describeRequest(operation)}`),
    ...reasonBlock(operation),
    section(progress(operation)),
    ...(waits
      ? [actions(button('Cancel the request', 'approvals:cancel', operation.id))]
      : followUp(operation)),
    ...(operation.outcome?.word === 'key-refused' ? [actions(connectButton('Connect the current key'))] : []),
    ...undoBlocks(operation, extra.undo),
    sealLine(operation),
  ]);
}

/** The reminder below the card, which has the buttons. */
export function renderReminder(operation: Operation, approvers: readonly string[]): Message {
  const whom = approvers.map((id) => `<@${id}>`).join(' ');
  const text = `:hourglass_flowing_sand: ${whom} This still waits: <@${operation.requester.userId}> asks to ${describeRequestPlainly(operation)}. It needs ${describeMissing(operation)} and expires ${formatMoment(operation.expiresAt)}.`;
  return message(text, [section(text)]);
}

/** The requests that wait for a person's approval, and those that the person made. */
export function renderApprovalList(lists: {
  readonly waiting: readonly Operation[];
  readonly requested: readonly Operation[];
  readonly isApprover: boolean;
  /** The result of a press in this list. */
  readonly done?: string | undefined;
  readonly asOf: Date;
}): Message {
  const { waiting, requested } = lists;
  const text = `${pluralize(waiting.length, 'request')} ${waiting.length === 1 ? 'waits' : 'wait'} for you. You asked for ${pluralize(requested.length, 'change')} lately.`;
  return message(text, [
    ...(lists.done === undefined ? [] : [section(lists.done)]),
    section(
      waiting.length === 0
        ? '*Nothing waits for your approval*'
        : `*${pluralize(waiting.length, 'request')}* ${waiting.length === 1 ? 'waits' : 'wait'} for your approval`,
    ),
    ...waitingBlocks(waiting, 'approvals:approve-listed'),
    ...(lists.isApprover ? [] : [context('You are not an approver: admins name them in `/cdn settings`.')]),
    section(`*What you asked for:* ${requested.length === 0 ? 'nothing yet' : ''}`),
    ...requestedBlocks(requested),
    context(`As of ${formatMoment(lists.asOf)}.`),
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
    ...waitingBlocks(waiting),
    ...requestedBlocks(open),
  ];
}

const mostListed = 8;

function waitingBlocks(waiting: readonly Operation[], approves = 'approvals:approve'): KnownBlock[] {
  const more = waiting.length - mostListed;
  return [
    ...waiting
      .slice(0, mostListed)
      .flatMap((operation) => [
        section(
          `<@${operation.requester.userId}>: ${describeRequest(operation)}\nneeds ${describeMissing(operation)} · expires ${formatMoment(operation.expiresAt)}`,
        ),
        approveButtons(operation, approves),
      ]),
    ...(more > 0 ? [context(`and ${more} more: they are in the approval channel`)] : []),
  ];
}

function requestedBlocks(asked: readonly Operation[]): KnownBlock[] {
  const more = asked.length - mostListed;
  return [
    ...asked.slice(0, mostListed).map((operation) => {
      const { state } = operation;
      const text = `${describeRequest(operation)}\n${renderState(state)} · ${formatMoment(operation.movedAt)}`;
      const open = state === 'proposed' || state === 'approved';
      if (open) return section(text, button('Cancel', 'approvals:cancel', operation.id));
      return state === 'unknown' ? section(text, checkButton(operation)) : section(text);
    }),
    ...(more > 0 ? [context(`and ${more} more`)] : []),
  ];
}

function approveButtons(
  { id, request }: Operation,
  approves = 'approvals:approve',
): ReturnType<typeof actions> {
  const irreversible = request.kind === 'volume-delete';
  return actions(
    button('Approve', approves, id, {
      style: irreversible ? 'danger' : 'primary',
      confirm: {
        title: plain('Approve it?'),
        text: plain(
          irreversible
            ? 'The volume is deleted as soon as enough have approved. It cannot be undone.'
            : 'The variable is changed as soon as enough have approved.',
        ),
        confirm: plain('Approve'),
        deny: plain('Back'),
        ...(irreversible ? { style: 'danger' as const } : {}),
      },
    }),
    button('Deny', 'approvals:deny', id),
  );
}

function checkButton({ id }: Operation): ReturnType<typeof button> {
  return button('Check and say', 'approvals:check', id, { style: 'primary' });
}

/** The next step after a failure. */
function followUp(operation: Operation): KnownBlock[] {
  const { id, state, triedAgainAs } = operation;
  const again = triedAgainAs === undefined ? [button('Try again (new approval)', 'approvals:again', id)] : [];
  if (state === 'unknown') return [actions(checkButton(operation), ...again)];
  return (state === 'failed' || state === 'expired') && again.length > 0 ? [actions(...again)] : [];
}

function undoBlocks(operation: Operation, undo: 'possible' | 'unknown-value' | 'no'): KnownBlock[] {
  switch (undo) {
    case 'possible':
      return [actions(button('Undo (within 30 minutes)', 'variables:undo', operation.id))];
    case 'unknown-value':
      return [
        context(
          'No undo: the value before is not known here. The CDN does not tell it, and the bot has not set it before.',
        ),
      ];
    case 'no':
      return [];
  }
}

function reasonBlock({ reason }: Operation): KnownBlock[] {
  return reason === undefined || reason === '' ? [] : [section(`Reason: ${escapeMrkdwn(reason, 500)}`)];
}

function progress(operation: Operation): string {
  const { approvals, approvalsNeeded: needed, state, movedAt, movedBy, expiresAt } = operation;
  const given = approvals.map(({ by }) => `<@${by}>`).join(', ');
  const outcome = describeOutcome(operation);
  const by = movedBy === 'system' ? '' : ` by <@${movedBy}>`;
  const lines = [
    `*${renderState(state)}*${state === 'denied' || state === 'cancelled' ? by : ''} · ${formatMoment(movedAt)}`,
    ...(outcome ? [outcome] : []),
    ...(needed > 0
      ? [`${describeCount(operation)} ${needed === 1 ? 'approval' : 'approvals'}${given ? `: ${given}` : ''}`]
      : []),
    ...(state === 'proposed' ? [`Expires ${formatMoment(expiresAt)}`] : []),
  ];
  return lines.join('\n');
}

/** The audit records have the same seal. */
function sealLine({ seal, createdAt }: Operation): KnownBlock {
  return context(`Asked ${formatMoment(createdAt)} · seal ${formatCode(seal.slice(0, 12))}`);
}
