import type { Button, ModalView } from '@slack/types';
import { minuteMs } from '../../lib/time.ts';
import { type Message, section } from '../blocks/blocks.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import { describeFields } from '../blocks/failure.ts';
import { agree, andMore, formatBytes, formatDuration, formatNumber, pluralize } from '../blocks/format.ts';
import { modal } from '../blocks/inputs.ts';
import { capitalize, escapeMarkup, escapeMrkdwn, formatCode, join, stripMarkup } from '../blocks/text.ts';
import { describeSkipped } from '../zones/list.ts';

// Types, not interfaces: what is sealed has to be JSON.
export type AffectedZones = {
  readonly zonesTotal: number;
  /** How many could not be read, and may be affected. */
  readonly zonesSkipped?: number;
  readonly zones: readonly {
    readonly id: string;
    readonly name: string;
    readonly hostnames: readonly string[];
    readonly hostnamesTotal: number;
  }[];
};

export type VolumeShown = AffectedZones & {
  readonly volumeSizeInGb?: number | undefined;
  readonly monthlyCost?: number | undefined;
  readonly summary: 'read' | 'unreadable';
};

export interface ShownOperation {
  readonly id: string;
  readonly state: keyof typeof states;
  readonly requester: { readonly userId: string };
  readonly reason: string | undefined;
  /** What asked for it: `assistant`, `client laptop`, `workflow`. */
  readonly via: string | undefined;
  readonly words: RequestWords;
  readonly approvalsNeeded: number;
  readonly approvals: readonly { readonly by: string }[];
  readonly keyFingerprint: string | undefined;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly seal: string;
  /** A user id, or `system`. */
  readonly movedBy: string;
  readonly movedAt: Date;
  readonly outcome: Outcome | undefined;
}

/** What an operation asks for, would do and did, in the words of its kind. In mrkdwn. */
export interface RequestWords {
  readonly what: string;
  readonly consequences: Consequences;
  readonly outcome: string | undefined;
  /** The command that opens its form again. */
  readonly again: string | undefined;
  readonly isDestructive: boolean;
  readonly labels: DecisionLabels | undefined;
}

export interface Consequences {
  readonly text: string;
  readonly zones?: AffectedZones;
}

type Label = { readonly label: string; readonly actionId: string };
export type DecisionLabels = { readonly approve: Label; readonly deny: Label };

interface Outcome {
  readonly word: string;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly why?: VoidReason | undefined;
  readonly reason?: string | undefined;
  readonly fields?: Parameters<typeof describeFields>[0] | undefined;
  readonly facts?: Readonly<Record<string, unknown>> | undefined;
}

export function describePlainly(operation: ShownOperation): string {
  return escapeMarkup(nameInPlainText(operation));
}

export function nameInPlainText({ words }: Pick<ShownOperation, 'words'>): string {
  return stripMarkup(words.what);
}

export function describeVolumeConsequences(shown: VolumeShown): string {
  const { volumeSizeInGb: size, monthlyCost: cost } = shown;
  const figures =
    shown.summary === 'unreadable'
      ? 'The app’s size and cost could not be read.'
      : `All volumes of the app: ${size === undefined ? 'size not reported' : formatBytes(size * 1e9)} · ${cost === undefined ? 'cost not reported' : `cost ${formatNumber(cost)} a month`}`;
  return `:warning: *Cannot be undone: there is no backup.* ${figures}\n${describeZones(shown, 'uses this app', 'use this app')}`;
}

export function describeScriptConsequences(shown: AffectedZones): string {
  return describeZones(shown, 'runs this script', 'run this script');
}

const mostNamed = 8;

function describeZones({ zones, zonesTotal, zonesSkipped = 0 }: AffectedZones, one: string, many: string) {
  const left = zonesSkipped > 0 && `:warning: ${capitalize(describeSkipped(zonesSkipped))}.`;
  if (zonesTotal === 0) return join([`No zone that the requester sees ${one}.`, left], ' ');
  const names = zones
    .slice(0, mostNamed)
    .map(({ name, hostnames: [hostname = 'no hostname'], hostnamesTotal }) => {
      const hosts = join([escapeMrkdwn(hostname, 60), andMore(hostnamesTotal - 1)], ' ');
      return `*${escapeMrkdwn(name, 60) || 'unnamed'}* (${hosts})`;
    });
  const named = join([names.join(', '), andMore(zonesTotal - names.length)], ' ');
  const found = `*${pluralize(zonesTotal, 'zone')}* ${agree(zonesTotal, one, many)}: ${named}`;
  return join([found, left], '\n');
}

const states = {
  proposed: ':hourglass_flowing_sand: waiting for approval',
  approved: ':arrow_forward: approved, about to run',
  executing: ':arrow_forward: running',
  succeeded: ':white_check_mark: done',
  failed: ':x: not done',
  unknown: ':grey_question: outcome unknown: do not retry yet',
  denied: ':no_entry: denied',
  expired: ':alarm_clock: expired',
  cancelled: ':heavy_minus_sign: cancelled',
} as const;

export function nameRequester({ via, requester }: Pick<ShownOperation, 'via' | 'requester'>): string {
  const who = `<@${requester.userId}>`;
  return via === undefined ? who : `:robot_face: ${nameVia(via)}, for ${who},`;
}

/** The `via` of what a step of a workflow asks for. */
export const byWorkflow = 'workflow';

export function nameVia(via: string): string {
  if (via === byWorkflow) return 'A workflow';
  return via === 'assistant'
    ? 'Slack’s assistant'
    : `A client (${escapeMrkdwn(via.replace(/^client /u, ''), 60)})`;
}

export function waitsForRequester({
  state,
  via,
  approvalsNeeded,
}: Pick<ShownOperation, 'state' | 'via' | 'approvalsNeeded'>): boolean {
  return state === 'proposed' && via !== undefined && approvalsNeeded === 0;
}

export function renderState(
  operation: Pick<ShownOperation, 'state' | 'outcome' | 'via' | 'approvalsNeeded'>,
): string {
  const { state, outcome } = operation;
  if (waitsForRequester(operation)) return ':hourglass_flowing_sand: waiting for the requester to confirm';
  return outcome?.word === 'unconfirmed' ? ':grey_question: accepted, not confirmed' : states[state];
}

export function describeState(operation: Parameters<typeof renderState>[0]): string {
  return renderState(operation).replace(/^:\w+: /u, '');
}

export function describeMissing({ approvals, approvalsNeeded }: ShownOperation): string {
  const noun = approvals.length > 0 ? 'further approval' : 'approval';
  return pluralize(approvalsNeeded - approvals.length, noun);
}

/** How it ended and what to do next, in one or two sentences, with references to quote to support. */
export function describeOutcome({ state, outcome, movedBy, words }: ShownOperation): string {
  if (outcome === undefined) return '';
  const { word, requestId, facts } = outcome;
  const text =
    word === 'confirmed'
      ? `<@${movedBy}> checked: it was ${state === 'succeeded' ? '' : 'not '}done.`
      : (words.outcome ?? describeResult(outcome)) + quoteService(outcome);
  const reference = facts?.['reference'];
  const references = [
    typeof reference === 'string' && `Reference ${escapeMrkdwn(reference, 20)}.`,
    requestId !== undefined && word !== 'done' && `The CDN’s request ID: ${formatCode(requestId, 80)}.`,
  ];
  return join([text, ...references], ' ');
}

export const checkIt = '*It is not retried automatically.* Check whether it was done, then record it here.';

const results: Readonly<Record<string, string>> = {
  'key-refused':
    'Nothing was changed: the CDN refused the requester’s key. Connect the current one (`/cdn connect`), then try again.',
  'rate-limited': 'Nothing was changed: the CDN is rate limiting. Try again in a minute.',
  'not-sent':
    'Nothing was changed: the CDN could not be reached, and the request was never sent. Try again in a minute.',
  'not-found': 'Nothing was changed: the CDN does not know these IDs. Check them.',
  'process-died': `The bot stopped while the request may have been under way. ${checkIt}`,
  'requester-gone': 'The requester disconnected their key, or left. Nothing was changed.',
  'app-gone': 'The app was removed from the workspace. Nothing was changed.',
  'taken-back': 'The requester withdrew it. Nothing was changed.',
  expired: 'Nothing was changed.',
};

function describeResult({ word, status, why, reason }: Outcome): string {
  const http = status === undefined ? '' : ` (HTTP ${status})`;
  switch (word) {
    case 'refused':
      return `Nothing was changed: the CDN rejected it${http}.`;
    case 'unanswered':
      return `The request was sent${http}, and no clear answer came back. ${checkIt}`;
    case 'void':
      return `It is void and will not run: ${voidReasons[why ?? 'changed']}. Request it again.`;
    default:
      return results[word] ?? (reason ? `Reason: ${escapeMrkdwn(reason, 500)}` : '');
  }
}

function quoteService({ facts, fields = [] }: Outcome): string {
  const says = facts?.['says'];
  if (fields.length > 0) return ` ${describeFields(fields)}`;
  return typeof says === 'string' && says !== '' ? ` The CDN says: “${escapeMrkdwn(says, 300)}”` : '';
}

export const voidReasons = {
  changed: 'the stored request is not the one that was asked for',
  'key-gone': 'the encryption key that sealed it is gone',
  'key-replaced': 'the requester’s CDN key is no longer the one it was asked with',
  'requester-may-not': 'the requester is no longer allowed to do this',
  'more-approvals': 'the settings now ask for more approvals',
  'approver-may-not': 'somebody who approved it is no longer an approver',
  overtaken: 'the settings changed, or another change was asked for',
} as const;

export type VoidReason = keyof typeof voidReasons;

export function retryButtons({ words }: ShownOperation): Button[] {
  return words.again === undefined ? [] : [commandButton('Try again (new approval)', words.again)];
}

export const noUndo = 'No undo: the CDN does not reveal the previous value.';

export function undoButton(id: string): Button {
  return button('Undo (within 30 minutes)', 'variables:undo', id);
}

export interface ApprovalNeeds {
  readonly needed: number;
  readonly able: number;
  readonly minutes: number;
}

/** `submit`: the label of the button that sends the request. */
export function renderApprovalNeeds({ needed, able, minutes }: ApprovalNeeds, submit: string): string {
  if (needed === 0) return `No approval needed: takes effect when you press ${submit}.`;
  return `Needs ${pluralize(needed, 'approval')} within ${formatDuration(minutes * minuteMs)} (${pluralize(able, 'eligible approver')}).`;
}

export function renderSent({ text, blocks }: Message): ModalView {
  return { ...modal({ title: 'Sent' }, []), blocks: blocks ?? [section(text)] };
}
