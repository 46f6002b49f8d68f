import type { KnownBlock } from '@slack/types';
import type { MissingScope } from '../../auth/people.ts';
import { context } from './blocks.ts';
import { escapeMrkdwn } from './text.ts';

/** What Slack does not tell, each with what follows. */
export function missingScopeLines(blind: readonly MissingScope[]): KnownBlock[] {
  return blind.map((one) => context(`:warning: ${missingScopeLine(one)}`));
}

/** What Slack does not tell, and what follows. */
export function missingScopeLine({ lookup, reason }: MissingScope): string {
  return lookup === 'admins'
    ? `Slack does not tell who is a workspace admin (${why(reason, 'users:read')}): only ADMIN_USER_IDS are admins.`
    : `Slack does not tell who is in a user group (${why(reason, 'usergroups:read')}): groups count as empty.`;
}

/** The same for a line of a menu. */
export function cannotReadGroups(reason: string): string {
  if (reason === 'missing_scope') return 'Unknown: the scope usergroups:read was not granted';
  if (reason === 'plan_upgrade_required') return 'This Slack plan has no user groups';
  return 'Slack does not tell the user groups now';
}

function why(reason: string, scope: string): string {
  if (reason === 'missing_scope') return `the scope \`${scope}\` was not granted`;
  if (reason === 'plan_upgrade_required') return 'this Slack plan has no user groups';
  return reason === 'no-answer' ? 'no answer' : `\`${escapeMrkdwn(reason, 60)}\``;
}
