import type { MissingScope } from '../../auth/people.ts';
import type { Decision, Reason } from '../../auth/policy/policy.ts';
import { missingScopeLine } from './missing-scope.ts';

export interface Refusal {
  readonly message: string;
  readonly hint: string;
  readonly offer?: 'connect' | 'why';
}

/** What somebody is told who may not do something: the step that refused, and what helps. In mrkdwn. */
export function renderRefusal(decision: Decision, blind: readonly MissingScope[]): Refusal {
  const failed = decision.trace.find(({ ok }) => !ok);
  const known = words[decision.reason];
  const unseen = blind.find(({ lookup }) => lookup === leansOn[decision.reason]);
  if (unseen) {
    const message = known?.message ?? `You may not do this: you are ${failed?.says ?? 'not allowed to'}.`;
    return {
      message,
      hint: `${missingScopeLine(unseen)} Try again in a minute, or tell whoever runs this bot.`,
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

/** What was looked up at Slack for a refusal: if that failed, the refusal may be wrong. */
const leansOn: Readonly<Partial<Record<Reason, MissingScope['lookup']>>> = {
  'not-admin': 'admins',
  'not-operator': 'groups',
};

const words: Readonly<Partial<Record<Reason, Refusal>>> = {
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
    hint: 'Admins are the workspace’s admins and whoever runs this bot names.',
    offer: 'why',
  },
};
