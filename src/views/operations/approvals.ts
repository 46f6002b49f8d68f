import type { Button, KnownBlock } from '@slack/types';
import type { Operation } from '../../commands/operations/model.ts';
import { actions, context, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, confirmation, connectButton } from '../blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from '../blocks/format.ts';
import { renderTable } from '../blocks/table.ts';
import { capitalize, escapeMrkdwn, formatCode, join, type Maybe, plainText, unbold } from '../blocks/text.ts';
import {
  describeCount,
  describeMissing,
  describeOutcome,
  describeRequest,
  describeRequestPlainly,
  describeState,
  readAffected,
  renderConsequences,
  retryButton,
  states,
} from './describe.ts';

/** The approvers' card: the request, the requester, the consequences, and the buttons while it waits. */
export function renderApprovalCard(operation: Operation, approvers: readonly string[]): Message {
  const requester = `<@${operation.requester.userId}>`;
  const waits = operation.state === 'proposed';
  const text = waits
    ? `${requester} asks to ${describeRequestPlainly(operation)}. It needs ${describeMissing(operation)}.`
    : `${describeRequestPlainly(operation)}: ${describeState(operation)}`;
  return message(text, [
    section([
      `${requester} ${waits ? 'asks to' : 'asked to'} *${describeRequest(operation)}*`,
      quoteReason(operation),
    ]),
    section(renderConsequences(operation)),
    section(renderProgress(operation, approvers)),
    waits ? actions(...decisionButtons(operation), affectedButton(operation)) : nextSteps(operation),
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
    section([`*Your request:* ${describeRequest(operation)}`, quoteReason(operation)]),
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

/** The zones that a request affects, as they were when it was asked for. */
export function renderAffected(operation: Operation): Message {
  const { zones = [], zonesTotal = 0 } = readAffected(operation) ?? {};
  const rows = zones.flatMap(({ name, hostnames, hostnamesTotal }) => {
    const more = hostnamesTotal - hostnames.length;
    const hosts = [...hostnames, ...(more > 0 ? [`and ${formatInteger(more)} more`] : [])];
    return (hosts.length > 0 ? hosts : ['no hostname']).map((host) => [name || 'unnamed', host]);
  });
  const what = describeRequest(operation);
  const text = `*${capitalize(pluralize(zonesTotal, 'zone'))}* ${zonesTotal === 1 ? 'hangs' : 'hang'} on this: ${what}`;
  const others = zonesTotal > zones.length ? `The first ${formatInteger(zones.length)} zones · ` : '';
  return message(unbold(text), [
    section(text),
    ...renderTable({ caption: 'Zones and their hostnames', columns: ['Zone', 'Hostname'], rows }),
    context(`${others}as of ${formatMoment(operation.createdAt)}, when it was asked for`),
  ]);
}

function affectedButton(operation: Operation): Maybe<Button> {
  const { zonesTotal = 0 } = readAffected(operation) ?? {};
  return zonesTotal > 0 && button('What is affected', 'approvals:affected', operation.id);
}

export function canCancel({ state }: Operation): boolean {
  return state === 'proposed' || state === 'approved';
}

export function decisionButtons(operation: Operation, approveId = 'approvals:approve'): Button[] {
  const { id, kind } = operation;
  const style = kind === 'volume-delete' ? 'danger' : 'primary';
  const zones = readAffected(operation)?.zonesTotal ?? 0;
  const hangsOnIt = `${capitalize(pluralize(zones, 'zone'))} ${zones === 1 ? 'hangs' : 'hang'} on it.`;
  const way = kind === 'volume-delete' ? ' There is no way back.' : '';
  const warning = `It runs with the last approval: ${describeRequestPlainly(operation, plainText)}. ${hangsOnIt}${way}`;
  const confirm = { ...confirmation('Approve it?', warning, 'Approve', 'Back'), style } as const;
  return [button('Approve', approveId, id, { style, confirm }), button('Deny', 'approvals:deny', id)];
}

export function checkButton(id: string): Button {
  return button('Record what I found', 'approvals:check', id, { style: 'primary' });
}

/** Next steps after an end. Where the outcome is unknown a person looks first: another try could do it twice. */
function nextSteps({ id, state, triedAgainAs }: Operation): KnownBlock {
  const canRetry = triedAgainAs === undefined && ['failed', 'expired'].includes(state);
  return actions(state === 'unknown' && checkButton(id), canRetry && retryButton(id));
}

function quoteReason({ reason }: Operation): string {
  return reason === undefined ? '' : `>${escapeMrkdwn(reason, 500)}`;
}

/** `approvers`: those who could still approve. */
function renderProgress(operation: Operation, approvers: readonly string[] = []): string {
  const { approvals, approvalsNeeded, state, movedAt, movedBy, expiresAt } = operation;
  const given = approvals.map(({ by }) => by);
  if (state === 'proposed') {
    const able = approvers.filter((approver) => !given.includes(approver));
    const noun = approvalsNeeded === 1 ? 'approval' : 'approvals';
    return join(
      [
        `:hourglass_flowing_sand: *${describeCount(operation)} ${noun}*${given.length > 0 ? ` by ${mention(given)}` : ''}`,
        `until ${formatMoment(expiresAt)}`,
        able.length > 0 && `${mention(able)} can approve`,
      ],
      ' · ',
    );
  }
  const isByPerson = movedBy !== 'system' && (state === 'denied' || state === 'cancelled');
  const facts = [
    `*${states[state]}*${isByPerson ? ` by <@${movedBy}>` : ''}`,
    formatMoment(movedAt),
    given.length > 0 && `approved by ${mention(given)}`,
  ];
  return join([join(facts, ' · '), describeOutcome(operation)], '\n');
}

/** The audit records have the same seal. */
function sealLine({ seal, createdAt, keyFingerprint }: Operation): KnownBlock {
  const key = keyFingerprint === undefined ? '' : ` with the key ${formatCode(keyFingerprint)}`;
  return context(`Asked ${formatMoment(createdAt)}${key} · seal ${formatCode(seal.slice(0, 12))}`);
}

function mention(userIds: readonly string[]): string {
  return userIds.map((id) => `<@${id}>`).join(' ');
}
