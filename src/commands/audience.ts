import { UserError } from '../errors.ts';
import type { Audience } from '../outbox/slack-port.ts';

/**
 * Checks that only people of this organisation read a channel. Where Slack does not say who does, only channels that an
 * admin `named` under a `setting` are taken.
 *
 * @throws UserError
 */
export function assertOwnAudience(
  channel: string,
  audience: Audience,
  {
    what,
    named,
    setting,
  }: { readonly what: string; readonly named: readonly string[]; readonly setting: string },
): void {
  if (audience === 'own') return;
  if (audience === 'others')
    throw new UserError(
      `<#${channel}> is shared with another organization, so ${what}.`,
      'Choose a channel in your own organization.',
    );
  if (named.includes(channel)) return;
  throw new UserError(
    `I cannot see who reads <#${channel}>, so ${what}.`,
    audience.unknown === 'missing_scope'
      ? `An admin can name the channel under *${setting}* in \`/cdn settings\`, or install the app again with the scopes \`channels:read\` and \`groups:read\`.`
      : 'Invite me there (`/invite @cdn`) and try again. An admin can also name it in `/cdn settings`.',
  );
}
