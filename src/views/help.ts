import type { Button } from '@slack/types';
import type { Decision, Right } from '../auth/policy/policy.ts';
import { version } from '../lib/version.ts';
import { actions, context, type Message, type MessageBlock, message, section } from './blocks/blocks.ts';
import { commandButton, connectButton } from './blocks/buttons.ts';
import { pluralize } from './blocks/format.ts';
import { selectOf } from './blocks/menu-of-buttons.ts';
import { renderTable } from './blocks/table.ts';
import {
  capitalize,
  escapeMarkup,
  escapeMrkdwn,
  formatCode,
  join,
  truncate,
  truncateLines,
  unbold,
} from './blocks/text.ts';

/** The part of a command that help, menus and the Home tab show. */
export interface CommandSummary {
  /** The word after `/cdn`. */
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Without the slash word: `zone <id|name|hostname>`. */
  readonly usage: string;
  /** What stands before a colon is enough in a table: `Why a zone’s origin fails: errors by code and address`. */
  readonly summary: string;
  /** The text of its button in the Home tab and the menu; the name if there is none. */
  readonly label?: string;
  /** The heading of the menus that it belongs under, if its right does not say. */
  readonly task?: Task;
  readonly examples: readonly string[];
  readonly needs: Right;
}

export type HelpGroup = { readonly name: string; readonly commands: readonly CommandSummary[] };

const tasks = ['Look', 'Act', 'This bot'] as const;
export type Task = (typeof tasks)[number];

/** What people want to do with a command. */
export function taskOf({ task, needs }: CommandSummary): Task {
  if (task !== undefined || needs === 'read') return task ?? 'Look';
  return needs === 'none' || needs === 'admin' ? 'This bot' : 'Act';
}

/** A command, and whether the reader may run it. */
export interface JudgedCommand {
  readonly command: CommandSummary;
  readonly decision: Decision;
}

/** The first two are buttons; everything else is in a menu. */
const firstCommands = ['zones', 'zone'];

/** Everything that the reader may run, by task. `others`: the number of commands that they may not run. */
export function renderMenu(found: readonly JudgedCommand[], linked: boolean, others: number): Message {
  const commands = found.map(({ command }) => command).filter(({ name }) => name !== 'help');
  const runnable = commands.filter((command) => !isLocked(command, linked));
  const isFirst = ({ name }: CommandSummary): boolean => firstCommands.includes(name);
  const first = firstCommands.flatMap((name) => runnable.filter((command) => command.name === name));
  const text = linked
    ? '*What do you want to do?* Answers are private to you.'
    : ':key: *Connect your CDN key first*: it takes a minute. Then your zones are here.';
  return message(unbold(text), [
    section(text),
    actions(
      !linked && connectButton(),
      ...first.map((command, nth) => runButton(command, nth, linked && nth === 0)),
      selectOf(
        'Anything else…',
        tasks.map((label) => ({
          label,
          buttons: runnable
            .filter((command) => taskOf(command) === label && !isFirst(command))
            .map((command, nth) => runButton(command, nth + first.length)),
        })),
      ),
    ),
    ...renderCommands(found, !linked),
    context([
      '`/cdn help bandwidth` finds commands by what they do',
      others > 0 && `\`/cdn help all\` shows ${pluralize(others, 'more command')}`,
      `version ${version}`,
    ]),
  ]);
}

/** Every command, each with whether the reader may run it. */
export function renderAllCommands(all: readonly JudgedCommand[]): Message {
  const refused = all.filter(({ decision }) => !decision.allowed);
  const text =
    refused.length === 0
      ? 'You may run every command there is.'
      : `*${capitalize(pluralize(refused.length, 'command'))}* of ${all.length} you may not run.`;
  return message(unbold(text), [
    section(text),
    ...renderCommands(all, true),
    actions(
      selectOf(
        'Why not…',
        refused.map(({ command: { name } }, nth) => commandButton(`Why not ${name}`, `why ${name}`, nth)),
      ),
      commandButton('My permissions', 'whoami', 9),
    ),
    context('An admin can change rights with `/cdn settings`'),
  ]);
}

function renderCommands(found: readonly JudgedCommand[], withRights: boolean): MessageBlock[] {
  return renderTable({
    caption: 'Commands to type',
    columns: ['/cdn …', 'What it does', ...(withRights ? ['You'] : [])],
    rows: found.map(({ command: { name, examples, summary }, decision }) => [
      examples[0] ?? name,
      summary.split(':', 1)[0] ?? summary,
      ...(withRights ? [describeRight(decision)] : []),
    ]),
  });
}

/** `yes`, `connect first`, `no: not an operator` */
function describeRight({ allowed, reason, trace }: Decision): string {
  if (allowed) return 'yes';
  if (reason === 'no-key') return 'connect first';
  return `no: ${trace.find(({ ok }) => !ok)?.says ?? 'not allowed'}`;
}

// More commands than these are read as a table.
const mostDescribed = 4;

/** The commands that a search found, with their grammar. */
export function renderFound(search: string, found: readonly JudgedCommand[], linked: boolean): Message {
  const commands = found.map(({ command }) => command);
  const text = `${capitalize(pluralize(commands.length, 'command'))} for ${formatCode(search, 60)}`;
  const isShort = commands.length <= mostDescribed;
  const runnable = commands.filter((command) => !isLocked(command, linked) && command.name !== 'help');
  return message(`${text}: ${commands.map(({ name }) => `/cdn ${name}`).join(', ')}`, [
    section(
      [`*${text}*`, !linked && ':key: Some need your CDN key: connect it first.'],
      !linked && connectButton(),
    ),
    isShort &&
      section(
        truncateLines(
          commands.map((command) => describe(command, linked)),
          2800,
          '\n\n',
        ),
      ),
    ...(isShort ? [] : renderCommands(found, !linked)),
    actions(...runnable.slice(0, mostDescribed).map((command, nth) => runButton(command, nth)), allCommands),
  ]);
}

const allCommands = commandButton('All commands', 'help', 9);

function runButton({ name, label }: CommandSummary, nth: number, isPrimary = false): Button {
  return commandButton(label ?? capitalize(name), name, nth, isPrimary ? { style: 'primary' } : {});
}

/** Commands that were asked for and that the person may not run, each with the rule that refuses. */
export function renderRefusedCommands(found: readonly JudgedCommand[]): Message {
  const text = `${capitalize(pluralize(found.length, 'command'))} you may not run`;
  const described = found.map(({ command, decision }) => {
    const failed = decision.trace.filter(({ ok }) => !ok).map(({ says }) => says);
    return `${describeUsage(command)}\n${escapeMrkdwn(command.summary, 200)}\n:no_entry: ${failed.join('; ')}`;
  });
  const whys = found
    .slice(0, 3)
    .map(({ command: { name } }, nth) => commandButton(`Why not ${name}?`, `why ${name}`, nth));
  return message(text, [
    section(`*${text}*`),
    section(truncateLines(described, 2800)),
    actions(...whys, commandButton('My permissions', 'whoami', 8)),
  ]);
}

/** Nothing matches the search. */
export function renderNoHelp(search: string, near: readonly string[]): Message {
  const text = `No command is about ${search ? formatCode(search, 60) : 'that'}.`;
  return message(text, [
    section(near.length > 0 ? `${text} Did you mean one of these?` : text),
    actions(...near.map((name, nth) => commandButton(`/cdn ${name}`, name, nth)), allCommands),
  ]);
}

export type NamedZone = { readonly id: string; readonly name: string };

/** An unknown word. `near` are the words of commands that it may stand for, `zones` those whose name it may be. */
export function renderUnknownCommand(unknown: {
  readonly typed: string | undefined;
  readonly near: readonly string[];
  readonly zones: readonly NamedZone[];
}): Message {
  const { typed, near, zones } = unknown;
  const text = typed === undefined ? 'That is not a command.' : `${formatCode(typed, 40)} is not a command.`;
  const meant =
    near.length > 0 ? ` Did you mean ${near.map((words) => words.split(' ')[0]).join(' or ')}?` : '';
  return message(`${text}${meant}`, [
    section(`${text}${near.length > 0 ? ' Did you mean:' : ' These may help:'}`),
    actions(
      ...near.map((words, nth) => commandButton(`/cdn ${truncate(words, 60)}`, words, nth)),
      ...zones.map(({ id, name }, nth) =>
        commandButton(`Find the zone ${truncate(name, 50)}`, `zone ${id}`, near.length + nth),
      ),
      allCommands,
    ),
  ]);
}

function describeUsage({ usage }: CommandSummary): string {
  return `\`/cdn ${escapeMarkup(usage)}\``;
}

/** Its grammar, examples and aliases. */
function describe(command: CommandSummary, linked: boolean): string {
  const { aliases = [], examples, summary } = command;
  const locked = isLocked(command, linked) ? ' :key: connect first' : '';
  const typed = examples.map((example) => `\`/cdn ${escapeMarkup(example)}\``).join(', ');
  const others = aliases.map((alias) => formatCode(alias)).join(', ');
  return join(
    [
      `${describeUsage(command)}${locked}`,
      escapeMrkdwn(summary, 200),
      `For example ${typed}`,
      others && `Also: ${others}`,
    ],
    '\n',
  );
}

/** Whether a command needs a key that is not connected. */
function isLocked({ needs }: CommandSummary, linked: boolean): boolean {
  return !linked && needs !== 'none' && needs !== 'admin';
}
