import type { Button, KnownBlock } from '@slack/types';
import { actions, context, type Message, message, say, section } from '../blocks/blocks.ts';
import {
  button,
  commandButton,
  confirmation,
  connectButton,
  replacingButton,
  selectOf,
} from '../blocks/buttons.ts';
import { andMore, countOf, formatMoment, pluralize } from '../blocks/format.ts';
import { listHeight, renderPage } from '../blocks/table.ts';
import { capitalize, escapeMrkdwn, formatCode, join, unbold } from '../blocks/text.ts';
import {
  byWorkflow,
  type DecisionLabels,
  describeMissing,
  describeOutcome,
  describePlainly,
  describeState,
  nameInPlainText,
  nameRequester,
  nameVia,
  noUndo,
  renderState,
  retryButtons,
  type ShownOperation,
  undoButton,
  type VoidReason,
  voidReasons,
  waitsForRequester,
} from './describe.ts';

/** For approvers; where nobody has to approve it tells the channel of a change. */
export function renderApprovalCard(operation: ShownOperation, approvers: readonly string[]): Message {
  const requester = `<@${operation.requester.userId}>`;
  const waits = operation.state === 'proposed' && operation.approvalsNeeded > 0;
  const text = waits
    ? `${nameRequester(operation)} asks to ${describePlainly(operation)}. It needs ${describeMissing(operation)}.`
    : `${describePlainly(operation)}: ${describeState(operation)}`;
  return message(text, [
    section([
      `${requester} ${waits ? 'asks to' : 'asked to'} *${operation.words.what}*`,
      nameAssistant(operation),
      quoteReason(operation),
    ]),
    section(operation.words.consequences.text),
    section(renderProgress(operation, approvers)),
    waits ? actions(...decisionButtons(operation)) : nextSteps(operation),
    sealLine(operation),
  ]);
}

/** `undo`: whether a button restores the value before; `unknown` = it is not kept. */
export function renderRequesterMessage(
  operation: ShownOperation,
  undo: 'possible' | 'late' | 'unknown',
): Message {
  const { id, outcome, words } = operation;
  return message(`Your request to ${describePlainly(operation)}: ${describeState(operation)}`, [
    section([
      `*Your request:* ${words.what}`,
      nameAssistant(operation),
      (words.labels !== undefined || waitsForRequester(operation)) && words.consequences.text,
      quoteReason(operation),
    ]),
    section(renderProgress(operation)),
    canCancel(operation)
      ? actions(waitsForRequester(operation) && confirmButton(operation), cancelButton(id))
      : nextSteps(operation),
    outcome?.word === 'key-refused' && actions(connectButton('Connect the current key')),
    undo === 'possible' && actions(undoButton(id)),
    undo === 'unknown' && context(noUndo),
    sealLine(operation),
  ]);
}

/** Where Slack took the request to no approver. */
export function renderUntold(operation: ShownOperation, code: string): Message {
  return say(
    `:warning: Slack did not take your request to ${describePlainly(operation)} to any approver (${code}). They find it with \`/cdn approvals\`: tell one of them before it expires, ${formatMoment(operation.expiresAt)}.`,
  );
}

export function renderReminder(operation: ShownOperation, approvers: readonly string[]): Message {
  const { expiresAt } = operation;
  const text = `:hourglass_flowing_sand: ${mention(approvers)} Reminder: ${nameRequester(operation)} asks to ${describePlainly(operation)}. It needs ${describeMissing(operation)} and expires ${formatMoment(expiresAt)}.`;
  return say(text);
}

export function renderFormOffer(
  offer: Pick<ShownOperation, 'requester' | 'reason' | 'via'> & { readonly what: string },
  variable: string,
): Message {
  const { what } = offer;
  return message(`Type the value in a form, to ${unbold(what)}`, [
    section([
      `*To confirm:* ${what}`,
      nameAssistant(offer),
      'Nothing has been requested yet. Only you type the value, and no assistant sees it.',
      quoteReason(offer),
    ]),
    actions(button('Type the value', 'variables:type', variable, { style: 'primary' })),
  ]);
}

export function cancelButton(id: string): Button {
  return button('Cancel the request', 'approvals:cancel', id);
}

function canCancel({ state }: ShownOperation): boolean {
  return state === 'proposed' || state === 'approved';
}

const defaultLabels: DecisionLabels = {
  approve: { label: 'Approve', actionId: 'approvals:approve' },
  deny: { label: 'Deny', actionId: 'approvals:deny' },
};

function decisionButtons(operation: ShownOperation): Button[] {
  const { id, words } = operation;
  const { approve, deny } = words.labels ?? defaultLabels;
  const { zones } = words.consequences;
  const dependents =
    zones &&
    zones.zonesSkipped === undefined &&
    `${capitalize(pluralize(zones.zonesTotal, 'zone depends', 'zones depend'))} on it.`;
  const warning = `It runs with the last approval: ${nameInPlainText(operation)}.`;
  return [
    runButton(approve.label, approve.actionId, operation, join([warning, dependents], ' ')),
    button(deny.label, deny.actionId, id),
  ];
}

function runButton(label: string, actionId: string, { id, words }: ShownOperation, warning: string): Button {
  const style = words.isDestructive ? 'danger' : 'primary';
  const text = join([warning, words.isDestructive && 'This cannot be undone.'], ' ');
  const confirm = { ...confirmation(`${label} it?`, text, label, 'Back'), style } as const;
  return button(label, actionId, id, { style, confirm });
}

/** Next steps after an end. Where the outcome is unknown a person looks first: another try could do it twice. */
function nextSteps(operation: ShownOperation): KnownBlock {
  const { id, state } = operation;
  const canRetry = state === 'failed' || state === 'expired';
  return actions(
    state === 'unknown' && button('Record what I found', 'approvals:check', id, { style: 'primary' }),
    ...(canRetry ? retryButtons(operation) : []),
  );
}

function quoteReason({ reason, via }: Pick<ShownOperation, 'reason' | 'via'>): string {
  if (reason === undefined) return '';
  const whose = via === byWorkflow ? 'workflow' : 'assistant';
  return `>${escapeMrkdwn(reason, 500)}${via ? `\n_in the ${whose}’s words_` : ''}`;
}

function nameAssistant({ via, requester }: Pick<ShownOperation, 'via' | 'requester'>): string {
  return via === undefined ? '' : `:robot_face: ${nameVia(via)} asked for <@${requester.userId}>`;
}

function confirmButton(operation: ShownOperation): Button {
  const warning = `It runs at once: ${nameInPlainText(operation)}.`;
  return runButton('Confirm', 'approvals:confirm', operation, warning);
}

function renderProgress(operation: ShownOperation, approvers: readonly string[] = []): string {
  const { approvals, approvalsNeeded, state, movedAt, movedBy, expiresAt } = operation;
  const done = approvalsNeeded === 0 ? 'confirmed' : 'approved';
  const given = approvals.map(({ by }) => by);
  if (waitsForRequester(operation)) return `*${renderState(operation)}* · until ${formatMoment(expiresAt)}`;
  if (state === 'proposed') {
    const able = approvers.filter((approver) => !given.includes(approver));
    return join(
      [
        `:hourglass_flowing_sand: *${countOf(given.length, approvalsNeeded, 'approval')}*${given.length > 0 ? ` by ${mention(given)}` : ''}`,
        `until ${formatMoment(expiresAt)}`,
        able.length > 0 && `${mention(able)} can approve`,
      ],
      ' · ',
    );
  }
  const isByPerson = movedBy !== 'system' && (state === 'denied' || state === 'cancelled');
  const facts = [
    `*${renderState(operation)}*${isByPerson ? ` by <@${movedBy}>` : ''}`,
    formatMoment(movedAt),
    given.length > 0 && `${done} by ${mention(given)}`,
  ];
  return join([join(facts, ' · '), describeOutcome(operation)], '\n');
}

function sealLine({ seal, createdAt, keyFingerprint }: ShownOperation): KnownBlock {
  const key = keyFingerprint === undefined ? '' : ` with the key ${formatCode(keyFingerprint)}`;
  return context(`Asked ${formatMoment(createdAt)}${key} · seal ${formatCode(seal.slice(0, 12))}`);
}

function mention(userIds: readonly string[]): string {
  return userIds.map((id) => `<@${id}>`).join(' ');
}

export interface ApprovalLists {
  readonly waiting: readonly ShownOperation[];
  readonly requested: readonly ShownOperation[];
  readonly isApprover: boolean;
}

/** What waits for a person, and what they asked for. */
export function renderApprovalList(
  { waiting, requested, isApprover }: ApprovalLists,
  asOf: Date,
  page?: number,
): Message {
  const text = waiting.length === 0 ? 'Nothing is waiting for your approval' : countWaiting(waiting);
  const mine = requested.length === 0 ? 'You have not asked for anything lately.' : '*You asked to*';
  const lines = requested.map(
    (one) => `${one.words.what}\n${renderState(one)} · ${formatMoment(one.movedAt)}`,
  );
  // The buttons of a request that waits are as high as two lines.
  const heights = [...waiting.map((one) => `${describeWaiting(one)}\n\n`), ...lines];
  const { range, pages, chosen } = renderPage(heights, {
    page,
    height: listHeight,
    turn: (label, nth) => replacingButton(label, `approvals ${nth}`),
  });
  const own = lines.slice(...range.map((end) => Math.max(0, end - waiting.length)));
  return message(text, [
    section([
      `*${text}*`,
      !isApprover && 'You are not an approver. Admins name approvers in `/cdn settings`.',
    ]),
    ...waiting.slice(...range).flatMap(renderWaiting),
    (own.length > 0 || requested.length === 0) && section([mine, ...own]),
    actions(
      selectOf(chosen, pages, { chosen, nth: 1 }),
      selectOf('Cancel or record…', requested.flatMap(renderChoice)),
      commandButton('Refresh', 'approvals'),
    ),
    context(`as of ${formatMoment(asOf)}`),
  ]);
}

function countWaiting(waiting: readonly unknown[]): string {
  return `${capitalize(pluralize(waiting.length, 'request waits', 'requests wait'))} for your approval`;
}

function renderChoice(operation: ShownOperation): Button[] {
  const label = nameInPlainText(operation);
  if (canCancel(operation)) return [button(`Cancel: ${label}`, 'approvals:cancel', operation.id)];
  return operation.state === 'unknown'
    ? [button(`Record what I found: ${label}`, 'approvals:check', operation.id)]
    : [];
}

export function renderHomeSection(waiting: readonly ShownOperation[], open: number): KnownBlock[] {
  const more = andMore(waiting.length - mostAtHome);
  const yours = open > 0 && `${pluralize(open, 'request of yours is', 'requests of yours are')} open`;
  return [
    section(
      join([waiting.length > 0 && `*${countWaiting(waiting)}*`, yours], ' · '),
      commandButton('Approvals', 'approvals'),
    ),
    ...waiting.slice(0, mostAtHome).flatMap(renderWaiting),
    ...(more ? [context(`${more}: see the approval channel`)] : []),
  ];
}

const mostAtHome = 8;

function describeWaiting(operation: ShownOperation): string {
  const { words, expiresAt } = operation;
  const when = `needs ${describeMissing(operation)} · expires ${formatMoment(expiresAt)}`;
  return `${nameRequester(operation).replace(/,$/u, '')}: ${words.what}\n${when}`;
}

function renderWaiting(operation: ShownOperation): KnownBlock[] {
  return [section(describeWaiting(operation)), actions(...decisionButtons(operation))];
}

export type ShownAnswer<Shown = ShownOperation> =
  | { readonly kind: 'not-found' }
  | ({ readonly operation: Shown } & (
      | {
          readonly kind: 'approved' | 'denied' | 'cancelled' | 'confirmed' | 'expired' | 'already' | 'twice';
        }
      | { readonly kind: 'void'; readonly why: VoidReason }
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
  const progress = `${operation.approvals.length} of ${operation.approvalsNeeded}. It still needs ${describeMissing(operation)}.`;
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
        ? reply(`Recorded as done: ${request}.`)
        : reply(`Recorded as not done: ${request}.`, ...retryButtons(operation));
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
      return reply(`It is void and will not run: ${voidReasons[answer.why]}. ${requester} can ask again.`);
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
    `Requested: ${request}. It needs *${pluralize(approvalsNeeded, 'approval')}* before ${formatMoment(expiresAt)}.\nYou get the outcome in a direct message.`,
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
