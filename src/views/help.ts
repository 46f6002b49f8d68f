import type { Decision, Right } from '../auth/policy/policy.ts';
import { actions, commandButton, connectButton, context, message, section } from './blocks/blocks.ts';
import type { Message } from './blocks/message.ts';
import { escapeMarkup, escapeMrkdwn, formatCode, pluralize, truncate, truncateLines } from './blocks/text.ts';

/** What help, menus and the Home tab show of a command. */
export interface CommandSummary {
  /** The word after `/cdn`. */
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Common words that it answers, each with what to type for it. */
  readonly keywords?: Readonly<Record<string, string>>;
  /** Without the slash word: `zone <id|name|hostname>`. */
  readonly usage: string;
  readonly summary: string;
  /** The text of its button in the Home tab and the menu; the name if there is none. */
  readonly label?: string;
  readonly examples: readonly string[];
  readonly needs: Right;
}

export interface HelpGroup {
  readonly name: string;
  readonly commands: readonly CommandSummary[];
}

/** The commands that match a search, or all of them, by feature. */
export function renderHelp(found: {
  readonly search: string;
  readonly groups: readonly HelpGroup[];
  readonly linked: boolean;
  /** The number of matching commands that the reader may not run. */
  readonly others: number;
}): Message {
  const { search, groups, linked, others } = found;
  const commands = groups.flatMap((group) => group.commands);
  // A narrow search also shows examples and aliases.
  const isDetailed = commands.length <= 3;
  const what = search ? `Commands for ${formatCode(search, 60)}` : 'What the bot does for you';
  const next = linked
    ? 'Answers are private to you unless they say otherwise.'
    : ':key: *Connect your CDN key first*: commands marked with a key need it.';
  return message(`${what}: ${commands.map(({ name }) => `/cdn ${name}`).join(', ')}`, [
    section(`*${what}*\n${next}`, ...(linked ? [] : [connectButton()])),
    ...groups
      .slice(0, 40)
      .map((group) => section(`*${title(group.name)}*\n${lines(group, linked, isDetailed)}`)),
    actions(...nextSteps(commands, linked)),
    context(
      `A word missing opens a form. \`/cdn help bandwidth\` finds commands by what they do.${others > 0 ? ` \`/cdn help all\` shows ${pluralize(others, 'more command')} and why you may not run ${others === 1 ? 'it' : 'them'}.` : ''}`,
    ),
  ]);
}

/** The commands that the person may not run, each with the rule that refuses. */
export function renderOtherHelp(
  found: readonly { readonly command: CommandSummary; readonly decision: Decision }[],
): Message {
  const buttons = [commandButton('What I may run', 'help', 8), commandButton('My rights', 'whoami', 9)];
  if (found.length === 0) {
    const text = 'You may run every command there is.';
    return message(text, [section(text), actions(...buttons)]);
  }
  const text = `${pluralize(found.length, 'command')} you may not run`;
  const described = found.map(({ command, decision }) => {
    const failed = decision.trace.filter(({ ok }) => !ok).map(({ says }) => says);
    return `\`/cdn ${escapeMarkup(command.usage)}\`\n${escapeMrkdwn(command.summary, 200)}\n:no_entry: ${failed.join('; ')}`;
  });
  const whys = found
    .slice(0, 3)
    .map(({ command }, index) => commandButton(`Why ${command.name}?`, `why ${command.name}`, index));
  return message(text, [
    section(`*${text}*`),
    section(truncateLines(described, 2800)),
    actions(...whys, ...buttons),
  ]);
}

/** Nothing matches the search. */
export function renderNoHelp(found: { readonly search: string; readonly near: readonly string[] }): Message {
  const text = `No command is about ${found.search ? formatCode(found.search, 60) : 'that'}.`;
  return message(text, [
    section(found.near.length > 0 ? `${text} Did you mean one of these?` : text),
    actions(
      ...found.near.map((name, index) => commandButton(`/cdn ${name}`, name, index)),
      commandButton('All commands', 'help', 9),
    ),
  ]);
}

/** An unknown word. `near` are the commands it may stand for, with the words to run. */
export function renderUnknownCommand(unknown: {
  readonly typed: string | undefined;
  readonly near: readonly { readonly name: string; readonly words: string }[];
  readonly zone: string | undefined;
}): Message {
  const { typed, near, zone } = unknown;
  const text = typed === undefined ? 'That is not a command.' : `${formatCode(typed, 40)} is not a command.`;
  return message(
    near.length > 0 ? `${text} Did you mean ${near.map(({ name }) => name).join(' or ')}?` : text,
    [
      section(`${text}${near.length > 0 ? ' Did you mean:' : ' These may help:'}`),
      actions(
        ...near.map(({ words }, index) => commandButton(`/cdn ${truncate(words, 60)}`, words, index)),
        ...(zone === undefined || near.length > 0
          ? []
          : [commandButton(`Find the zone ${truncate(zone, 50)}`, `zone ${zone}`, 8)]),
        commandButton('All commands', 'help', 9),
      ),
    ],
  );
}

function lines(group: HelpGroup, linked: boolean, isDetailed: boolean): string {
  const described = group.commands.map((command) => {
    const locked = isLocked(command, linked) ? ' :key: connect first' : '';
    const usage = `\`/cdn ${escapeMarkup(command.usage)}\`${locked}\n${escapeMrkdwn(command.summary, 200)}`;
    if (!isDetailed) return usage;
    const examples = command.examples.map((example) => `\`/cdn ${escapeMarkup(example)}\``).join(', ');
    const aliases = command.aliases?.length
      ? `\nAlso: ${command.aliases.map((alias) => formatCode(alias)).join(', ')}`
      : '';
    return `${usage}\nFor example ${examples}${aliases}`;
  });
  return truncateLines(described, 2800);
}

/** Whether a command needs a key that is not connected. */
function isLocked({ needs }: CommandSummary, linked: boolean): boolean {
  return !linked && needs !== 'none' && needs !== 'admin';
}

function nextSteps(commands: readonly CommandSummary[], linked: boolean) {
  const runnable = commands.filter((command) => command.name !== 'help' && !isLocked(command, linked));
  const buttons = runnable.slice(0, 4).map(({ name }, index) => commandButton(`/cdn ${name}`, name, index));
  return buttons.length > 0 ? buttons : [commandButton('All commands', 'help', 9)];
}

function title(feature: string): string {
  const words = feature.replaceAll('-', ' ').replace(/^api\b/u, 'API');
  return escapeMrkdwn(words.charAt(0).toUpperCase() + words.slice(1));
}
