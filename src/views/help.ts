import type { Command, Message } from '../commands/define.ts';
import { actions, context, message, section, typing } from './blocks.ts';
import { connectButton } from './connect.ts';
import { code, cut, escaped, fit, foreign } from './text.ts';

export interface HelpGroup {
  readonly name: string;
  readonly commands: readonly Command[];
}

/** The commands that answer a search, or all of them, by feature. */
export function help(found: {
  readonly search: string;
  readonly groups: readonly HelpGroup[];
  readonly linked: boolean;
}): Message {
  const { search, groups, linked } = found;
  const commands = groups.flatMap((group) => group.commands);
  // Somebody who asks for one thing gets its examples and aliases as well.
  const closely = commands.length <= 3;
  const what = search ? `Commands for ${code(search, 60)}` : 'What the bot does for you';
  const next = linked
    ? 'Answers are private to you unless they say otherwise.'
    : ':key: *Connect your CDN key first*: commands marked with a key need it.';
  return message(`${what}: ${commands.map(({ name }) => `/cdn ${name}`).join(', ')}`, [
    section(`*${what}*\n${next}`, ...(linked ? [] : [connectButton()])),
    ...groups
      .slice(0, 40)
      .map((group) => section(`*${title(group.name)}*\n${lines(group, linked, closely)}`)),
    actions(...nextSteps(commands, linked)),
    context('A word missing opens a form. `/cdn help bandwidth` finds commands by what they do.'),
  ]);
}

/** Nothing answers the search. */
export function noHelp(found: { readonly search: string; readonly near: readonly string[] }): Message {
  const text = `No command is about ${found.search ? code(found.search, 60) : 'that'}.`;
  return message(text, [
    section(found.near.length > 0 ? `${text} Did you mean one of these?` : text),
    actions(
      ...found.near.map((name, index) => typing(`/cdn ${name}`, name, index)),
      typing('All commands', 'help', 9),
    ),
  ]);
}

/** A word that is no command. `near` are commands it may have been meant for, with the words to run. */
export function unknownCommand(unknown: {
  readonly typed: string | undefined;
  readonly near: readonly { readonly name: string; readonly words: string }[];
  readonly zone: string | undefined;
}): Message {
  const { typed, near, zone } = unknown;
  const text = typed === undefined ? 'That is not a command.' : `${code(typed, 40)} is not a command.`;
  return message(
    near.length > 0 ? `${text} Did you mean ${near.map(({ name }) => name).join(' or ')}?` : text,
    [
      section(`${text}${near.length > 0 ? ' Did you mean:' : ' These may help:'}`),
      actions(
        ...near.map(({ words }, index) => typing(`/cdn ${cut(words, 60)}`, words, index)),
        ...(zone === undefined || near.length > 0
          ? []
          : [typing(`Find the zone ${cut(zone, 50)}`, `zone ${zone}`, 8)]),
        typing('All commands', 'help', 9),
      ),
    ],
  );
}

function lines(group: HelpGroup, linked: boolean, closely: boolean): string {
  const described = group.commands.map((command) => {
    const locked = command.needs === 'none' || linked ? '' : ' :key: connect first';
    const usage = `\`/cdn ${escaped(command.usage)}\`${locked}\n${foreign(command.summary, 200)}`;
    if (!closely) return usage;
    const examples = command.examples.map((example) => `\`/cdn ${escaped(example)}\``).join(', ');
    const aliases = command.aliases?.length
      ? `\nAlso: ${command.aliases.map((alias) => code(alias)).join(', ')}`
      : '';
    return `${usage}\nFor example ${examples}${aliases}`;
  });
  return fit(described, 2800);
}

function nextSteps(commands: readonly Command[], linked: boolean) {
  const runnable = commands.filter(({ name, needs }) => name !== 'help' && (needs === 'none' || linked));
  const buttons = runnable.slice(0, 4).map(({ name }, index) => typing(`/cdn ${name}`, name, index));
  return buttons.length > 0 ? buttons : [typing('All commands', 'help', 9)];
}

function title(feature: string): string {
  const words = feature.replaceAll('-', ' ').replace(/^api\b/u, 'API');
  return foreign(words.charAt(0).toUpperCase() + words.slice(1));
}
