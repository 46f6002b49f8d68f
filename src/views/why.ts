import type { Blind } from '../auth/people.ts';
import type { Decision, Right } from '../auth/policy.ts';
import { blindLines } from './blind.ts';
import { actions, message, section, typing } from './blocks.ts';
import { connectButton } from './connect.ts';
import type { Message } from './message.ts';
import { code, cut } from './text.ts';

/** A decision with each of its steps. */
export function why(asked: {
  readonly name: string;
  readonly needs: Right;
  readonly decision: Decision;
  /** Somebody else; undefined = the reader. */
  readonly about: string | undefined;
  readonly channelId: string | undefined;
  readonly blind: readonly Blind[];
}): Message {
  const { name, needs, decision, about, channelId, blind } = asked;
  const who = about === undefined ? 'You' : `<@${about}>`;
  const may = `${who} may ${decision.allowed ? '' : 'not '}run ${code(`/cdn ${name}`)}`;
  const here = channelId === undefined ? '' : ` in <#${channelId}>`;
  const sign = decision.allowed ? ':white_check_mark:' : ':no_entry:';
  const steps = decision.trace.map(
    ({ rule, says, ok }) => `${ok ? ':heavy_check_mark:' : ':x:'} *${titles[rule]}*: ${says}`,
  );
  const own = about === undefined;
  const next = [
    ...(own && decision.reason === 'no-key' ? [connectButton()] : []),
    ...(decision.allowed && own && needs === 'read' ? [typing(`/cdn ${name}`, name)] : []),
    typing('What I may', 'whoami', 8),
    ...(own ? [] : [typing('Settings', 'settings', 9)]),
  ];
  return message(
    `${about === undefined ? 'You' : 'This person'} may ${decision.allowed ? '' : 'not '}run /cdn ${name}: ${decision.reason}.`,
    [
      section(`${sign} *${may}*${here}\nIt needs the right *${needs}* (${meanings[needs]}).`),
      section(steps.join('\n')),
      ...blindLines(blind),
      actions(...next),
    ],
  );
}

/** No command was named. */
export function whyWhat(): Message {
  const text = 'Which command? For example `/cdn why volume delete`.';
  return message(text, [
    section(text),
    actions(
      typing('Why zones', 'why zones', 0),
      typing('Why export', 'why export', 1),
      typing('Why variable', 'why variable', 2),
      typing('Why volume delete', 'why volume delete', 3),
    ),
  ]);
}

/** What was named is no command. */
export function whyUnknown(typed: string, near: readonly string[]): Message {
  const text = `${code(typed, 40)} is not a command.`;
  return message(text, [
    section(near.length > 0 ? `${text} Did you mean:` : text),
    actions(
      ...near.map((name, index) => typing(`Why ${cut(name, 60)}`, `why ${name}`, index)),
      typing('All commands', 'help all', 9),
    ),
  ]);
}

const titles: Readonly<Record<Decision['trace'][number]['rule'], string>> = {
  organisation: 'Organisation',
  role: 'Role',
  key: 'Key',
  channel: 'Channel',
  approval: 'Approval',
  destination: 'Destination',
};

/** What each class of commands does, in a few words. */
const meanings: Readonly<Record<Right, string>> = {
  none: 'for everybody here',
  read: 'looks, changes nothing',
  export: 'brings logs into a channel',
  change: 'changes something in the CDN',
  destroy: 'deletes what cannot be brought back',
  admin: 'changes the bot’s settings',
};
