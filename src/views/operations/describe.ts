import type { ModalView } from '@slack/types';
import {
  type AffectedZones,
  readVariableShown,
  readVolumeShown,
  type VariableShown,
  type VolumeShown,
} from '../../api/zones/summary.ts';
import type { Operation, OperationOutcome, OperationState, VoidReason } from '../../operations/model.ts';
import { plain } from '../blocks/blocks.ts';
import type { Message } from '../blocks/message.ts';
import { escapeMrkdwn, formatCode, formatInteger, formatMoney, pluralize } from '../blocks/text.ts';

/** `delete every instance of volume `data` of app `app0``, in mrkdwn. */
export function describeRequest({ request }: Pick<Operation, 'request'>): string {
  if (request.kind === 'volume-delete')
    return `delete every instance of volume ${formatCode(request.volumeId, 60)} of app ${formatCode(request.appId, 60)}`;
  const parts = [
    ...(request.setsValue ? ['a new value'] : []),
    ...(request.required === undefined ? [] : [request.required ? 'now required' : 'no longer required']),
  ];
  return `set variable ${formatCode(request.variableId, 30)} of script ${formatCode(request.scriptId, 30)}: ${parts.join(', ')}`;
}

/** The same for a notification, without markup. */
export function describeRequestPlainly({ request }: Pick<Operation, 'request'>): string {
  return request.kind === 'volume-delete'
    ? `delete volume ${escapeMrkdwn(request.volumeId, 60)} of app ${escapeMrkdwn(request.appId, 60)}`
    : `set variable ${escapeMrkdwn(request.variableId, 30)} of script ${escapeMrkdwn(request.scriptId, 30)}`;
}

/** The consequences as the requester saw them. */
export function renderConsequences({ request, snapshot }: Pick<Operation, 'request' | 'snapshot'>): string {
  if (request.kind === 'volume-delete') {
    const shown = readVolumeShown(snapshot);
    return shown ? volumeConsequences(shown) : 'The consequences were not kept.';
  }
  const shown = readVariableShown(snapshot);
  return shown ? scriptConsequences(shown) : 'The consequences were not kept.';
}

export function volumeConsequences(shown: VolumeShown): string {
  const { volumeSizeInGb: size, monthlyCost: cost } = shown;
  const figures =
    shown.summary === 'unreadable'
      ? 'Size and cost of the app’s volumes could not be read.'
      : `The app’s volumes: *${size === undefined ? 'size not reported' : `${formatInteger(size)} GB`}* · the app costs ${cost === undefined ? '(not reported)' : formatMoney(cost)} a month`;
  return [
    ':warning: *This cannot be undone.* There is no backup.',
    figures,
    shown.zonesTotal === 0
      ? 'No pull zone leads to this app.'
      : `*${pluralize(shown.zonesTotal, 'pull zone')}* ${shown.zonesTotal === 1 ? 'leads' : 'lead'} to this app:\n${zoneLines(shown)}`,
    'All instances have to be detached first; otherwise the CDN refuses and nothing is deleted.',
  ].join('\n');
}

export function scriptConsequences(shown: VariableShown): string {
  return shown.zonesTotal === 0
    ? 'No pull zone that your key sees runs this script.'
    : `*${pluralize(shown.zonesTotal, 'pull zone')}* ${shown.zonesTotal === 1 ? 'runs' : 'run'} this script:\n${zoneLines(shown)}`;
}

function zoneLines({ zones, zonesTotal }: AffectedZones): string {
  const lines = zones.map(({ id, name, hostnames, hostnamesTotal }) => {
    const more = hostnamesTotal - hostnames.length;
    const hosts = hostnames.map((hostname) => escapeMrkdwn(hostname, 60)).join(', ') || 'no hostname';
    return `• *${escapeMrkdwn(name, 60) || 'unnamed'}* (${escapeMrkdwn(id, 20)}): ${hosts}${more > 0 ? ` and ${formatInteger(more)} more` : ''}`;
  });
  const left = zonesTotal - zones.length;
  return [...lines, ...(left > 0 ? [`and ${formatInteger(left)} more`] : [])].join('\n');
}

/** A sign and a few words: never the colour alone. */
export function renderState(state: OperationState): string {
  const lines: Readonly<Record<OperationState, string>> = {
    proposed: ':hourglass_flowing_sand: waits for approval',
    approved: ':arrow_forward: approved, about to run',
    executing: ':arrow_forward: running',
    succeeded: ':white_check_mark: done',
    failed: ':x: not done',
    unknown: ':grey_question: outcome unknown',
    denied: ':no_entry: denied',
    expired: ':alarm_clock: expired',
    cancelled: ':heavy_minus_sign: cancelled',
  };
  return lines[state];
}

/** The same without its sign, inside a sentence. */
export function describeState({ state }: Operation): string {
  return renderState(state).replace(/^:\w+: /u, '');
}

/** `1 of 2` */
export function describeCount({ approvals, approvalsNeeded }: Operation): string {
  return `${approvals.length} of ${approvalsNeeded}`;
}

export function describeMissing({ approvals, approvalsNeeded }: Operation): string {
  const noun = approvals.length > 0 ? 'further approval' : 'approval';
  return pluralize(approvalsNeeded - approvals.length, noun);
}

/** How it ended and what to do next, in one or two sentences. */
export function describeOutcome({
  kind,
  state,
  outcome,
  movedBy,
}: Pick<Operation, 'kind' | 'state' | 'outcome' | 'movedBy'>): string {
  if (outcome === undefined) return '';
  const reference = referenceOf(outcome);
  if (outcome.word === 'confirmed')
    return `<@${movedBy}> looked: it was ${state === 'succeeded' ? '' : 'not '}done.${reference}`;
  return `${sentence(kind, outcome)}${reference}`;
}

/** References to quote to support. */
function referenceOf({ word, requestId, facts }: OperationOutcome): string {
  const own = facts?.['reference'];
  const parts = [
    ...(typeof own === 'string' ? [`Reference ${escapeMrkdwn(own, 20)}.`] : []),
    ...(requestId !== undefined && word !== 'done'
      ? [`The CDN’s request id: ${formatCode(requestId, 80)}.`]
      : []),
  ];
  return parts.length > 0 ? ` ${parts.join(' ')}` : '';
}

function sentence(kind: Operation['kind'], outcome: OperationOutcome): string {
  const volume = kind === 'volume-delete';
  const says = outcome.facts?.['says'];
  const quoted = typeof says === 'string' && says !== '' ? ` It says: “${escapeMrkdwn(says, 300)}”` : '';
  const status = outcome.status === undefined ? '' : ` (HTTP ${outcome.status})`;
  switch (outcome.word) {
    case 'done':
      return volume ? deleted(outcome.facts?.['instances']) : 'The variable is set.';
    case 'nothing-deleted':
      return 'The CDN deleted nothing: the volume had no instances.';
    case 'not-detached':
      return 'Nothing was deleted: an instance is still attached. Detach first: in the CDN’s panel open the app, scale it down or remove the volume from it, then try again.';
    case 'not-found':
      return volume
        ? 'Nothing was deleted: the CDN knows no such volume. It is already gone, or an id is wrong.'
        : 'Nothing was changed: the CDN knows no such script or variable. Check both ids.';
    case 'key-refused':
      return 'Nothing was changed: the CDN refused the requester’s key. Connect the current one (`/cdn connect`), then try again.';
    case 'rate-limited':
      return 'Nothing was changed: the CDN asks for a pause. Try again in a minute.';
    case 'refused':
      return `Nothing was changed: the CDN refused it${status}.${quoted}`;
    case 'not-sent':
      return 'Nothing was changed: the CDN could not be reached, and the request was never sent. Try again in a minute.';
    case 'unanswered':
      return `The request was sent${status}, and no clear answer came back. *It is not sent again by itself.* Check whether it was done, then say so here.`;
    case 'process-died':
      return 'The bot stopped while the request may have been under way. *It is not sent again by itself.* Check whether it was done, then say so here.';
    case 'void':
      return `It was voided and will not run: ${describeVoidReason(outcome.why)}. Ask for it anew.`;
    case 'requester-gone':
      return 'The requester disconnected their key, or left: nothing was sent to the CDN.';
    case 'app-gone':
      return 'The app was taken out of the workspace: nothing was sent to the CDN.';
    case 'taken-back':
      return 'The requester took it back: nothing was sent to the CDN.';
    case 'expired':
      return 'Nothing was sent to the CDN.';
    default:
      return outcome.reason ? `Reason: ${escapeMrkdwn(outcome.reason, 500)}` : '';
  }
}

function deleted(instances: unknown): string {
  return typeof instances === 'number'
    ? `${pluralize(instances, 'instance')} deleted.`
    : 'Deleted. The CDN did not say how many instances there were.';
}

export function describeVoidReason(why: VoidReason | undefined): string {
  switch (why) {
    case 'key-gone':
      return 'the encryption key that sealed it is gone';
    case 'requester-may-not':
      return 'the requester may no longer do this';
    case 'more-approvals':
      return 'the settings ask for more approvals now';
    case 'approver-may-not':
      return 'an approver of it may no longer approve';
    case 'changed':
    case undefined:
      return 'the stored request is not the one that was asked for';
  }
}

/** What a request needs before it runs, as settings and people are now. */
export interface ApprovalNeeds {
  readonly needed: number;
  /** How many people could give one. */
  readonly able: number;
  readonly minutes: number;
}

export function renderApprovalNeeds({ needed, able, minutes }: ApprovalNeeds): string {
  if (needed === 0) return 'The settings ask for no approval: it runs as soon as you send this.';
  const people = needed === 1 ? '1 other person has' : `${needed} other people have`;
  return `Then ${people} to approve within ${pluralize(minutes, 'minute')}; ${pluralize(able, 'person', 'people')} can.`;
}

/** The last view of a form that asked for something. */
export function renderSent({ text, blocks }: Message): ModalView {
  return {
    type: 'modal',
    title: plain('Sent'),
    close: plain('Close'),
    blocks: blocks ?? [{ type: 'section', text: plain(text) }],
  };
}
