import type { Decision } from '../auth/policy.ts';

export interface Refused {
  readonly message: string;
  readonly hint: string;
  readonly offer?: 'connect' | 'why';
}

/** What somebody is told who may not do something: the step that refused, and what helps. In mrkdwn. */
export function refused(decision: Decision): Refused {
  const failed = decision.trace.find(({ ok }) => !ok);
  switch (decision.reason) {
    case 'foreign':
      return {
        message: 'This bot answers people of its own organisation only.',
        hint: 'Ask somebody of the organisation that installed it.',
      };
    case 'no-key':
      return {
        message: 'You have not connected a CDN key yet.',
        hint: 'Connect yours: it takes a minute.',
        offer: 'connect',
      };
    case 'not-admin':
      return {
        message: 'Only admins may do this, and you are not one.',
        hint: 'Admins are the workspace’s admins and whoever runs this bot names.',
        offer: 'why',
      };
    case 'channel-cap':
      return {
        message: `This is not allowed here: ${failed?.says ?? 'the channel is capped'}.`,
        hint: 'Try it in another channel, or in your conversation with the bot.',
        offer: 'why',
      };
    default:
      return {
        message: `You may not do this: you are ${failed?.says ?? 'not allowed to'}.`,
        hint: 'An admin can change that with `/cdn settings`.',
        offer: 'why',
      };
  }
}
