import type { Button, ModalView } from '@slack/types';
import {
  type AffectedZones,
  readVariableShown,
  readVolumeShown,
  type VariableShown,
  type VolumeShown,
} from '../../api/zones/summary.ts';
import { findVariableName, type Operation, type OperationState } from '../../commands/operations/model.ts';
import type { OperationOutcome, VoidReason } from '../../commands/operations/rows.ts';
import { type Message, section } from '../blocks/blocks.ts';
import { button } from '../blocks/buttons.ts';
import { describeFields } from '../blocks/failure.ts';
import { formatBytes, formatInteger, formatMoney, pluralize } from '../blocks/format.ts';
import { modal } from '../blocks/inputs.ts';
import { escapeMrkdwn, formatCode, join, truncateLines } from '../blocks/text.ts';

/** `delete volume `data` of app `app0`, every instance`, in mrkdwn. */
export function describeRequest(operation: Operation): string {
  const { request } = operation;
  if (request.kind === 'volume-delete')
    return `delete volume ${formatCode(request.volumeId, 60)} of app ${formatCode(request.appId, 60)}, every instance`;
  const parts = [
    request.setsValue && 'a new value',
    request.required !== undefined && (request.required ? 'now required' : 'no longer required'),
  ];
  return `set ${nameVariable(operation, formatCode)}: ${join(parts, ', ')}`;
}

/** `variable 12 of script 301`, or with its name `FEATURE_X (12) of script 301`. */
function nameVariable(operation: Operation, format: (text: string, length: number) => string): string {
  const { request } = operation;
  if (request.kind !== 'variable-update') return '';
  const name = findVariableName(operation);
  const id = format(request.variableId, 30);
  return `${name ? `${format(name, 60)} (${id})` : `variable ${id}`} of script ${format(request.scriptId, 30)}`;
}

/** The same without markup: for a notification, or with `plainText` for plain text. */
export function describeRequestPlainly(
  operation: Operation,
  format: (text: string, length: number) => string = escapeMrkdwn,
): string {
  const { request } = operation;
  return request.kind === 'volume-delete'
    ? `delete volume ${format(request.volumeId, 60)} of app ${format(request.appId, 60)}`
    : `set ${nameVariable(operation, format)}`;
}

export function renderConsequences({ request, snapshot }: Pick<Operation, 'request' | 'snapshot'>): string {
  const volume = request.kind === 'volume-delete' ? readVolumeShown(snapshot) : undefined;
  const script = request.kind === 'variable-update' ? readVariableShown(snapshot) : undefined;
  if (volume) return volumeConsequences(volume);
  return script ? scriptConsequences(script) : 'The consequences were not kept.';
}

export function volumeConsequences(shown: VolumeShown): string {
  const { volumeSizeInGb: size, monthlyCost: cost } = shown;
  const figures =
    shown.summary === 'unreadable'
      ? 'Size and cost of the app could not be read.'
      : `All volumes of the app: ${size === undefined ? 'size not reported' : formatBytes(size * 1e9)} · it costs ${cost === undefined ? '(not reported)' : formatMoney(cost)} a month`;
  return `:warning: *Cannot be undone, there is no backup.* ${figures}\n${describeZones(shown, ['uses', 'use'], 'this app')}`;
}

export function scriptConsequences(shown: VariableShown): string {
  return describeZones(shown, ['runs', 'run'], 'this script');
}

const mostNamed = 8;

/** `*5 zones* use this app: *shop*, *api* …`: by name, since people decide by them. */
function describeZones(
  { zones, zonesTotal }: AffectedZones,
  [one, many]: readonly [string, string],
  what: string,
): string {
  if (zonesTotal === 0) return `No zone that the requester sees ${one} ${what}.`;
  const names = zones.slice(0, mostNamed).map(({ name }) => `*${escapeMrkdwn(name, 60) || 'unnamed'}*`);
  const more = zonesTotal - names.length;
  const others = more > 0 ? ` and ${formatInteger(more)} more` : '';
  return `*${pluralize(zonesTotal, 'zone')}* ${zonesTotal === 1 ? one : many} ${what}: ${names.join(', ')}${others}`;
}

/** The zones that an operation affects, of which as many as were shown are sealed with it. */
export function readAffected({ request, snapshot }: Pick<Operation, 'request' | 'snapshot'>) {
  return request.kind === 'volume-delete' ? readVolumeShown(snapshot) : readVariableShown(snapshot);
}

/** A sign and a few words: never the colour alone. */
export const states: Readonly<Record<OperationState, string>> = {
  proposed: ':hourglass_flowing_sand: waits for approval',
  approved: ':arrow_forward: approved, about to run',
  executing: ':arrow_forward: running',
  succeeded: ':white_check_mark: done',
  failed: ':x: not done',
  unknown: ':grey_question: outcome unknown: do not retry yet',
  denied: ':no_entry: denied',
  expired: ':alarm_clock: expired',
  cancelled: ':heavy_minus_sign: cancelled',
};

/** The same without its sign, inside a sentence. */
export function describeState({ state }: Operation): string {
  return states[state].replace(/^:\w+: /u, '');
}

/** `1 of 2` */
export function describeCount({ approvals, approvalsNeeded }: Operation): string {
  return `${approvals.length} of ${approvalsNeeded}`;
}

export function describeMissing({ approvals, approvalsNeeded }: Operation): string {
  const noun = approvals.length > 0 ? 'further approval' : 'approval';
  return pluralize(approvalsNeeded - approvals.length, noun);
}

/** How it ended and what to do next, in one or two sentences, with references to quote to support. */
export function describeOutcome(operation: Operation): string {
  const { state, outcome, movedBy } = operation;
  if (outcome === undefined) return '';
  const { word, requestId, facts } = outcome;
  const text =
    word === 'confirmed'
      ? `<@${movedBy}> looked: it was ${state === 'succeeded' ? '' : 'not '}done.`
      : describeResult(operation, outcome) + quoteService(outcome);
  const reference = facts?.['reference'];
  const references = [
    typeof reference === 'string' && `Reference ${escapeMrkdwn(reference, 20)}.`,
    requestId !== undefined && word !== 'done' && `The CDN’s request id: ${formatCode(requestId, 80)}.`,
  ];
  return join([text, ...references], ' ');
}

/** The outcomes that are always told in the same words. */
const results: Readonly<Record<string, string>> = {
  'nothing-deleted': 'The CDN deleted nothing: the volume had no instances.',
  'not-detached':
    'Nothing was deleted: an instance is still attached. Detach first: in the CDN’s panel open the app, scale it down or remove the volume from it, then try again.',
  'key-refused':
    'Nothing was changed: the CDN refused the requester’s key. Connect the current one (`/cdn connect`), then try again.',
  'rate-limited': 'Nothing was changed: the CDN asks for a pause. Try again in a minute.',
  'not-sent':
    'Nothing was changed: the CDN could not be reached, and the request was never sent. Try again in a minute.',
  'process-died':
    'The bot stopped while the request may have been under way. *It is not sent again by itself.* Check whether it was done, then say so here.',
  'requester-gone': 'The requester disconnected their key, or left: nothing was sent to the CDN.',
  'app-gone': 'The app was taken out of the workspace: nothing was sent to the CDN.',
  'taken-back': 'The requester took it back: nothing was sent to the CDN.',
  expired: 'Nothing was sent to the CDN.',
};

function describeResult(operation: Operation, outcome: OperationOutcome): string {
  const { word, status, why, reason, instances, facts } = outcome;
  const isVolume = operation.kind === 'volume-delete';
  const http = status === undefined ? '' : ` (HTTP ${status})`;
  switch (word) {
    case 'done': {
      if (!isVolume) return describeVariable(operation, facts?.['required']);
      if (!instances) return 'Deleted. The CDN did not say how many instances there were.';
      const ids = instances.map((id) => formatCode(id, 60));
      return `${pluralize(ids.length, 'instance')} deleted: ${truncateLines(ids, 1000, ', ')}.`;
    }
    case 'not-found':
      return isVolume
        ? 'Nothing was deleted: the CDN knows no such volume. It is already gone, or an id is wrong.'
        : 'Nothing was changed: the CDN knows no such script or variable. Check both ids.';
    case 'refused':
      return `Nothing was changed: the CDN rejected it${http}.`;
    case 'differs': {
      const value = facts?.['otherValue'] === true && 'another value';
      const rule =
        facts?.['otherRule'] === true && `it as ${facts['required'] === true ? '' : 'not '}required`;
      return `The CDN took the change, but reports ${join([value, rule], ' and ')}. *It is not sent again by itself.* Check what is set, then say so here.`;
    }
    case 'unanswered':
      return `The request was sent${http}, and no clear answer came back. *It is not sent again by itself.* Check whether it was done, then say so here.`;
    case 'void':
      return `It was voided and will not run: ${describeVoidReason(why)}. Ask for it anew.`;
    default:
      return results[word] ?? (reason ? `Reason: ${escapeMrkdwn(reason, 500)}` : '');
  }
}

/** What the CDN says of single fields; else its own words beside ours. */
function quoteService({ facts, fields = [] }: OperationOutcome): string {
  const says = facts?.['says'];
  if (fields.length > 0) return ` ${describeFields(fields)}`;
  return typeof says === 'string' && says !== '' ? ` The CDN says: “${escapeMrkdwn(says, 300)}”` : '';
}

/** What is set, and whether the variable is required: as it was asked for, which the CDN's answer does not contradict. */
function describeVariable(operation: Operation, isRequired: unknown): string {
  const { request } = operation;
  if (request.kind !== 'variable-update') return '';
  const { setsValue, required } = request;
  const unchanged = isRequired !== undefined && (isRequired === true ? 'required' : 'not required');
  const changed = required ? 'now required' : 'no longer required';
  const parts = [setsValue && 'set', required === undefined ? unchanged : changed];
  return `${nameVariable(operation, formatCode).replace(/^v/u, 'V')} is ${join(parts, ' and ')}.`;
}

export function describeVoidReason(why: VoidReason = 'changed'): string {
  return voidReasons[why];
}

const voidReasons: Readonly<Record<VoidReason, string>> = {
  changed: 'the stored request is not the one that was asked for',
  'key-gone': 'the encryption key that sealed it is gone',
  'key-replaced': 'the requester’s CDN key is no longer the one it was asked with',
  'requester-may-not': 'the requester may no longer do this',
  'more-approvals': 'the settings ask for more approvals now',
  'approver-may-not': 'an approver of it may no longer approve',
};

export function retryButton(id: string): Button {
  return button('Try again (new approval)', 'approvals:again', id);
}

/** The approvals a request needs before it runs, under the present settings and people. */
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
  return { ...modal({ title: 'Sent' }, []), blocks: blocks ?? [section(text)] };
}
