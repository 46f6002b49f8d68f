import type { KnownBlock } from '@slack/types';
import type { MissingScope } from '../../auth/identity.ts';
import type { Decision, Reason } from '../../auth/policy/policy.ts';
import { context } from './blocks.ts';
import { escapeMrkdwn } from './text.ts';

export interface Refusal {
  readonly message: string;
  readonly hint: string;
  readonly offer?: 'connect' | 'why';
}

/** Why a decision refuses, and what helps, in mrkdwn. */
export function renderRefusal(decision: Decision, missing: readonly MissingScope[]): Refusal {
  const failed = decision.trace.find(({ ok }) => !ok);
  const known = refusals[decision.reason];
  const unread = missing.find(({ lookup }) => lookup === lookupOf[decision.reason]);
  if (unread) {
    const message = known?.message ?? `You may not do this: you are ${failed?.says ?? 'not allowed to'}.`;
    return {
      message,
      hint: `${missingScopeLine(unread)} Try again in a minute, or tell whoever runs this bot.`,
      offer: 'why',
    };
  }
  if (known) return known;
  if (decision.reason === 'channel-cap') {
    return {
      message: `This is not allowed here: ${failed?.says ?? 'the channel is capped'}.`,
      hint: 'Try it in another channel, or in your conversation with the bot.',
      offer: 'why',
    };
  }
  if (decision.reason === 'other-channel') {
    return {
      message: `That is not the place for it: ${failed?.says ?? 'only some channels are'}.`,
      hint: 'Choose another channel. An admin can change that with `/cdn settings`.',
    };
  }
  return {
    message: `You may not do this: you are ${failed?.says ?? 'not allowed to'}.`,
    hint: 'An admin can change that with `/cdn settings`.',
    offer: 'why',
  };
}

/** The Slack look-up behind a refusal: if it failed, the refusal may be wrong. */
const lookupOf: Readonly<Partial<Record<Reason, MissingScope['lookup']>>> = {
  'not-admin': 'admins',
  'not-operator': 'groups',
};

const refusals: Readonly<Partial<Record<Reason, Refusal>>> = {
  foreign: {
    message: 'This bot answers people of its own organisation only.',
    hint: 'Ask somebody of the organisation that installed it.',
  },
  'no-key': {
    message: 'You have not connected a CDN key yet.',
    hint: 'Connect yours: it takes a minute.',
    offer: 'connect',
  },
  'not-admin': {
    message: 'Only admins may do this, and you are not one.',
    hint: 'Admins are the workspace’s admins and people named by the operator of this bot.',
    offer: 'why',
  },
};

/** The look-ups that Slack does not answer, with their consequences. */
export function missingScopeLines(missing: readonly MissingScope[]): KnownBlock[] {
  return missing.map((one) => context(`:warning: ${missingScopeLine(one)}`));
}

function missingScopeLine({ lookup, reason }: MissingScope): string {
  return lookup === 'admins'
    ? `The bot cannot read who is a workspace admin (${why(reason, 'users:read')}): only ADMIN_USER_IDS are admins.`
    : `The bot cannot read who is in a user group (${why(reason, 'usergroups:read')}): groups count as empty.`;
}

/** The same as a note in a menu. */
export function cannotReadGroups(reason: string): string {
  if (reason === 'missing_scope') return 'Unknown: the scope usergroups:read was not granted';
  if (reason === 'plan_upgrade_required') return 'This Slack plan has no user groups';
  return 'The user groups cannot be read now';
}

function why(reason: string, scope: string): string {
  if (reason === 'missing_scope') return `the scope \`${scope}\` was not granted`;
  if (reason === 'plan_upgrade_required') return 'this Slack plan has no user groups';
  return reason === 'no-answer' ? 'no answer' : `\`${escapeMrkdwn(reason, 60)}\``;
}
