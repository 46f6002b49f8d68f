import type { Button, KnownBlock, ModalView } from '@slack/types';
import type { MissingScope } from '../../auth/identity.ts';
import type { Decision, Reason } from '../../auth/policy/policy.ts';
import type { UserError } from '../../errors.ts';
import { actions, context, type FormResult, type Message, message, section } from './blocks.ts';
import { button, commandButton, connectButton } from './buttons.ts';
import { escapeMrkdwn, join, sanitizeMrkdwn, truncateLines } from './text.ts';

/** More are a list to read. */
const maxAlternatives = 3;

export interface Failure {
  readonly message: string;
  readonly hint?: string | undefined;
  /** `connect`: connect a key; `why`: show the decision; a list: commands to run instead. */
  readonly offer?: UserError['offer'];
  readonly why?: string | undefined;
  readonly reference?: string | undefined;
  readonly isTransient?: boolean | undefined;
  /** Action and value of the button `Try again`, only if a retry is safe. */
  readonly retry?: { readonly actionId: string; readonly value: string } | undefined;
}

const mostFields = 5;

export function describeFields(
  fields: readonly { readonly field?: string | undefined; readonly message: string }[],
): string {
  const said = fields.slice(0, mostFields).map(({ field = '', message }) => {
    return join([field && `*${escapeMrkdwn(field, 60)}*`, escapeMrkdwn(message, 200)], ': ');
  });
  return said.map((text) => (/[.!?]$/u.test(text) ? text : `${text}.`)).join(' ');
}

export function renderFailure(failed: Failure): Message {
  // Errors come from many places, so their texts are sanitized here.
  const what = sanitizeMrkdwn(failed.message);
  const next = failed.hint ? sanitizeMrkdwn(failed.hint) : '';
  const reference = failed.reference ? `Reference ${escapeMrkdwn(failed.reference, 60)}` : '';
  return {
    ...message(join([what, next, reference], ' '), [
      section([`:warning: ${what}`, next]),
      actions(...renderButtons(failed)),
      reference && context(reference),
    ]),
    title: isRefusal(failed.offer) ? 'Not allowed yet' : 'That did not work',
  };
}

function isRefusal(offer: Failure['offer']): offer is 'why' | 'settings' | 'ask' {
  return offer === 'why' || offer === 'settings' || offer === 'ask';
}

function renderButtons({ offer, why, retry }: Failure): Button[] {
  if (offer === 'connect') return [connectButton()];
  if (isRefusal(offer))
    return [
      ...(why && offer !== 'ask' ? [commandButton('Why, and who can change it', `why ${why}`)] : []),
      ...(offer === 'settings' ? [commandButton('Open settings', 'settings', 1)] : []),
    ];
  // With an offer, a retry would fail again.
  if (offer === undefined) return retry ? [button('Try again', retry.actionId, retry.value)] : [];
  return offer.slice(0, maxAlternatives).map(({ label, types }, index) => commandButton(label, types, index));
}

export function addFailure(form: ModalView, failed: Failure): FormResult {
  const failure = renderFailure(failed);
  const own = form.blocks.filter(({ block_id: id }) => !id?.startsWith(ofFailure));
  const above = (failure.blocks ?? []).map((block, nth) => ({ ...block, block_id: `${ofFailure}${nth}` }));
  return { modal: { ...form, blocks: [...above, ...own] as KnownBlock[] }, message: failure };
}

/** Begins the ids of blocks that tell a failure: the next one takes their place. */
const ofFailure = 'failure:';

/** A failure with what was typed into the form that is closed by now. */
export function addTyped(
  failure: Message,
  typed: readonly (readonly [label: string, text: string])[],
  again: string | undefined,
): Message {
  if (typed.length === 0) return failure;
  const lines = typed.map(([label, text]) => `*${escapeMrkdwn(label, 60)}:* ${escapeMrkdwn(text, 1_000)}`);
  const note = section(['You entered', truncateLines(lines, 2_800)]);
  const row = again && [actions(button('Open the form again', openAgain, again))];
  return { ...failure, blocks: [...(failure.blocks ?? [section(failure.text)]), note, ...(row || [])] };
}

/** The id of its button, whose value says which form. */
export const openAgain = 'forms:again';

type Refusal = readonly [message: string, hint: string, offer?: 'connect' | 'why' | 'ask'];

/** Why a decision refuses, and what helps, in mrkdwn. `admins`: those who can change it. */
export function renderRefusal(
  { trace, reason }: Decision,
  missing: readonly MissingScope[],
  { admins = [], reader }: { readonly admins?: readonly string[]; readonly reader?: string } = {},
): Pick<UserError, 'message' | 'hint' | 'offer'> {
  const says = trace.find(({ ok }) => !ok)?.says;
  const refusals: Readonly<Partial<Record<Reason, Refusal>>> = {
    deactivated: [
      'Your Slack account is deactivated.',
      'An admin of the workspace can change that in Slack.',
    ],
    foreign: [
      'This bot only answers people in its own organization.',
      'Ask someone in the organization that installed it.',
    ],
    'no-key': ['You have not connected a CDN key yet.', 'Connect yours: it takes a minute.', 'connect'],
    'not-admin': [
      'Not allowed yet: only admins can do this.',
      'Admins are your workspace’s admins and the people named in the bot’s configuration.',
      'why',
    ],
    'channel-cap': [
      `Not allowed here: ${says ?? 'this channel is restricted'}.`,
      'Use another channel, or the buttons of the bot’s Home tab.',
      'why',
    ],
    'other-channel': [
      `Not allowed there: ${says ?? 'only some channels are named for it'}.`,
      'Choose another channel.',
      'ask',
    ],
  };
  const other: Refusal = [
    `Not allowed yet: this ${says ?? 'is not for you'}.`,
    'An admin can change that in `/cdn settings`.',
    'why',
  ];
  const [message, hint, offer] = refusals[reason] ?? other;
  // If the look-up behind a refusal failed, the refusal may be wrong.
  const unread = missing.find(({ lookup }) => lookup === lookups[reason]);
  if (unread) {
    const doubt = `${missingScopeLine(unread)} Try again in a minute, or tell the team that runs this bot.`;
    return { message, hint: doubt, offer: 'why' };
  }
  if (offer === undefined || offer === 'connect' || admins.length === 0) return { message, hint, offer };
  const isOfPlace = reason === 'channel-cap' || reason === 'other-channel';
  if (reader !== undefined && admins.includes(reader)) {
    const change = 'You are an admin: you can change that.';
    return { message, hint: isOfPlace ? `${hint} ${change}` : change, offer: 'settings' };
  }
  const whom = admins
    .slice(0, 3)
    .map((id) => `<@${id}>`)
    .join(', ');
  return { message, hint: isOfPlace ? `${hint} Or ask an admin: ${whom}.` : `Ask an admin: ${whom}.`, offer };
}

const lookups: Readonly<Partial<Record<Reason, MissingScope['lookup']>>> = {
  'not-admin': 'admins',
  'not-operator': 'groups',
};

export function missingScopeLines(missing: readonly MissingScope[]): KnownBlock[] {
  return missing.map((one) => context(`:warning: ${missingScopeLine(one)}`));
}

function missingScopeLine({ lookup, reason, lasting }: MissingScope): string {
  const [what, scope, without] =
    lookup === 'admins'
      ? ['who is a workspace admin', 'users:read', 'only ADMIN_USER_IDS are admins']
      : ['who is in a user group', 'usergroups:read', 'groups count as empty'];
  const reasons: Readonly<Record<string, string>> = {
    missing_scope: `the scope \`${scope}\` was not granted`,
    plan_upgrade_required: 'this Slack plan has no user groups',
    'no-answer': 'no answer',
  };
  const why = reasons[reason] ?? `\`${escapeMrkdwn(reason, 60)}\``;
  const consequence = lasting ? without : 'what depends on it waits until Slack answers';
  return `The bot cannot read ${what} (${why}): ${consequence}.`;
}

export function cannotReadGroups(reason: string): string {
  if (reason === 'missing_scope') return 'Unknown: the scope usergroups:read was not granted';
  if (reason === 'plan_upgrade_required') return 'This Slack plan has no user groups';
  return 'User groups can’t be read right now';
}
