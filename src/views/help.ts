import type { Button } from '@slack/types';
import type { Decision, Right } from '../auth/policy/policy.ts';
import { actions, context, type Message, message, say, section } from './blocks/blocks.ts';
import { commandButton, connectButton } from './blocks/buttons.ts';
import { pluralize } from './blocks/format.ts';
import {
  capitalize,
  escapeMarkup,
  escapeMrkdwn,
  formatCode,
  truncate,
  truncateLines,
} from './blocks/text.ts';

/** The part of a command that help, menus and the Home tab show. */
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

export type HelpGroup = { readonly name: string; readonly commands: readonly CommandSummary[] };

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
  const more = `\`/cdn help all\` shows ${pluralize(others, 'more command')} and why you may not run ${others === 1 ? 'it' : 'them'}.`;
  const runnable = commands
    .filter((command) => command.name !== 'help' && !isLocked(command, linked))
    .map(({ name }) => name);
  return message(`${what}: ${commands.map(({ name }) => `/cdn ${name}`).join(', ')}`, [
    section(`*${what}*\n${next}`, !linked && connectButton()),
    ...groups
      .slice(0, 40)
      .map((group) => section([`*${formatTitle(group.name)}*`, describe(group, linked, isDetailed)])),
    actions(...(runnable.length > 0 ? runnable.slice(0, 4).map(runButton) : [allCommands])),
    context(
      `A word missing opens a form. \`/cdn help bandwidth\` finds commands by what they do.${others > 0 ? ` ${more}` : ''}`,
    ),
  ]);
}

const allCommands = commandButton('All commands', 'help', 9);

function runButton(name: string, nth: number): Button {
  return commandButton(`/cdn ${name}`, name, nth);
}

/** The commands that the person may not run, each with the rule that refuses. */
export function renderOtherHelp(found: readonly { command: CommandSummary; decision: Decision }[]): Message {
  const buttons = [commandButton('What I may run', 'help', 8), commandButton('My rights', 'whoami', 9)];
  if (found.length === 0) {
    return say('You may run every command there is.', actions(...buttons));
  }
  const text = `${pluralize(found.length, 'command')} you may not run`;
  const described = found.map(({ command, decision }) => {
    const failed = decision.trace.filter(({ ok }) => !ok).map(({ says }) => says);
    return `${describeUsage(command)}\n${escapeMrkdwn(command.summary, 200)}\n:no_entry: ${failed.join('; ')}`;
  });
  const whys = found
    .slice(0, 3)
    .map(({ command: { name } }, nth) => commandButton(`Why ${name}?`, `why ${name}`, nth));
  return message(text, [
    section(`*${text}*`),
    section(truncateLines(described, 2800)),
    actions(...whys, ...buttons),
  ]);
}

/** Nothing matches the search. */
export function renderNoHelp(search: string, near: readonly string[]): Message {
  const text = `No command is about ${search ? formatCode(search, 60) : 'that'}.`;
  return message(text, [
    section(near.length > 0 ? `${text} Did you mean one of these?` : text),
    actions(...near.map(runButton), allCommands),
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
  const isZone = zone !== undefined && near.length === 0;
  const meant = near.length > 0 ? ` Did you mean ${near.map(({ name }) => name).join(' or ')}?` : '';
  return message(`${text}${meant}`, [
    section(`${text}${near.length > 0 ? ' Did you mean:' : ' These may help:'}`),
    actions(
      ...near.map(({ words }, nth) => commandButton(`/cdn ${truncate(words, 60)}`, words, nth)),
      isZone && commandButton(`Find the zone ${truncate(zone, 50)}`, `zone ${zone}`, 8),
      allCommands,
    ),
  ]);
}

function describeUsage({ usage }: CommandSummary): string {
  return `\`/cdn ${escapeMarkup(usage)}\``;
}

function describe({ commands }: HelpGroup, linked: boolean, isDetailed: boolean): string {
  const described = commands.map((command) => {
    const { aliases = [], examples, summary } = command;
    const locked = isLocked(command, linked) ? ' :key: connect first' : '';
    const usage = `${describeUsage(command)}${locked}\n${escapeMrkdwn(summary, 200)}`;
    if (!isDetailed) return usage;
    const typed = examples.map((example) => `\`/cdn ${escapeMarkup(example)}\``).join(', ');
    const others = aliases.map((alias) => formatCode(alias)).join(', ');
    return `${usage}\nFor example ${typed}${others && `\nAlso: ${others}`}`;
  });
  return truncateLines(described, 2800);
}

/** Whether a command needs a key that is not connected. */
function isLocked({ needs }: CommandSummary, linked: boolean): boolean {
  return !linked && needs !== 'none' && needs !== 'admin';
}

function formatTitle(feature: string): string {
  return escapeMrkdwn(capitalize(feature.replaceAll('-', ' ').replace(/^api\b/u, 'API')));
}
