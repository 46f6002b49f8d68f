import { UserError } from '../../errors.ts';
import { isPlaceCode } from '../../outbox/classify-failure.ts';
import type { Audience } from '../../outbox/slack-port.ts';

/**
 * Checks that only people of this organisation read a channel. Where Slack does not say, only channels that an admin
 * named for exports are taken.
 *
 * @throws UserError
 */
export function assertOwnAudience(channel: string, audience: Audience, named: readonly string[]): void {
  if (audience === 'own') return;
  if (audience === 'others')
    throw new UserError(
      `<#${channel}> is shared with another organisation, so no export is posted there.`,
      'Choose a channel of your own organisation, or leave it empty to get the file yourself.',
    );
  if (named.includes(channel)) return;
  throw new UserError(
    `I cannot see who reads <#${channel}>, so no export is posted there.`,
    describeStep(audience.unknown),
  );
}

function describeStep(code: string): string {
  if (code === 'missing_scope')
    return 'An admin can name it under *Exports may go to* in `/cdn settings`, or install the app again with the current manifest.';
  if (isPlaceCode(code))
    return 'Type `/invite @cdn` there and export again, or leave the channel empty to get the file yourself.';
  return 'Try again in a minute, or leave the channel empty to get the file yourself.';
}
