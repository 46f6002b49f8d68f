import type { ActionsBlock, Button } from '@slack/types';
import type { Decision, Right } from '../auth/policy/policy.ts';
import { version } from '../lib/version.ts';
import { actions, context, type Message, message, section } from './blocks/blocks.ts';
import { commandButton, connectButton, selectOf } from './blocks/buttons.ts';
import { countOf, pluralize } from './blocks/format.ts';
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

export interface CommandSummary {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Without the slash word: `zone <id|name|hostname>`. */
  readonly usage: string;
  /** A list shows only the part before the colon: `Why a zone’s origin fails: errors by code and address`. */
  readonly summary: string;
  /** The text of its button in the Home tab and the menu; the name by default. */
  readonly label?: string;
  /** Its heading in the menus, where its right does not decide that. */
  readonly task?: Task;
  readonly examples: readonly string[];
  readonly needs: Right;
}

export type HelpGroup = { readonly name: string; readonly commands: readonly CommandSummary[] };

const tasks = ['View', 'Act', 'This bot'] as const;
export type Task = (typeof tasks)[number];

export function taskOf({ task, needs }: CommandSummary): Task {
  if (needs === 'none' || needs === 'admin') return task ?? 'This bot';
  return task ?? (needs === 'read' ? 'View' : 'Act');
}

export interface JudgedCommand {
  readonly command: CommandSummary;
  readonly decision: Decision;
}

const firstCommands = ['zones', 'errors', 'zone', 'approvals'];

export function commandRow(commands: readonly CommandSummary[], hasPrimary = false): ActionsBlock {
  const first = firstCommands.flatMap((name) => commands.filter((command) => command.name === name));
  const others = commands.filter((command) => !first.includes(command));
  return actions(
    ...first.map((command, nth) => runButton(command, nth, hasPrimary && nth === 0)),
    selectOf(
      'Anything else…',
      tasks.map((label) => ({
        label,
        buttons: others
          .filter((command) => taskOf(command) === label)
          .map((command, nth) => runButton(command, nth + first.length)),
      })),
    ),
  );
}

/** Everything that the reader may run, by task. `others`: the number of commands that they may not run. */
export function renderMenu(found: readonly JudgedCommand[], linked: boolean, others: number): Message {
  const usable = found
    .map(({ command }) => command)
    .filter((one) => one.name !== 'help' && !isLocked(one, linked));
  const text = linked
    ? '*What do you want to do?* Answers are private to you.'
    : ':key: *Connect your CDN key first*: it takes a minute. Your zones appear here once connected.';
  return message(unbold(text), [
    section(text),
    !linked && actions(connectButton()),
    commandRow(usable, linked),
    ...tasks.map((task) => {
      const names = listNames(found.filter(({ command }) => taskOf(command) === task));
      return (
        names && section(`*${task}* ${names}`, commandButton('What they do', `help ${task.toLowerCase()}`))
      );
    }),
    context([
      '`/cdn help bandwidth` finds commands by what they do',
      others > 0 && `\`/cdn help all\` shows ${pluralize(others, 'more command')}`,
      `version ${version}`,
    ]),
  ]);
}

export function renderAllCommands(all: readonly JudgedCommand[]): Message {
  const refused = all.filter(({ decision }) => !decision.allowed);
  const text = `You can run *${countOf(all.length - refused.length, all.length, 'command')}*.`;
  const byReason = Map.groupBy(refused, ({ decision }) => describeRight(decision));
  return message(unbold(text), [
    section([text, listNames(all.filter(({ decision }) => decision.allowed))]),
    byReason.size > 0 &&
      section(
        truncateLines(
          [...byReason].map(([reason, those]) => `${reason}: ${listNames(those)}`),
          2800,
        ),
      ),
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

function listNames(found: readonly JudgedCommand[]): string {
  return found.map(({ command: { name } }) => `\`${name}\``).join(' ');
}

function describeRight({ allowed, reason, trace }: Decision): string {
  if (allowed) return '';
  if (reason === 'no-key') return ':key: connect first';
  return `:no_entry: ${trace.find(({ ok }) => !ok)?.says ?? 'not allowed'}`;
}

const mostDescribed = 4;

export function renderFound(search: string, found: readonly JudgedCommand[], linked: boolean): Message {
  const isRefused = found.every(({ decision }) => !isUsable(decision));
  const needsKey = !linked && !isRefused;
  const count = capitalize(pluralize(found.length, 'command'));
  const text = isRefused ? `${count} you cannot run yet` : `${count} for ${formatCode(search, 60)}`;
  const few = found.slice(0, mostDescribed).map(({ command }) => command);
  const runnable = few.filter((command) => !isLocked(command, linked) && command.name !== 'help');
  const buttons = isRefused
    ? few.map(({ name }, nth) => commandButton(`Why not ${name}?`, `why ${name}`, nth))
    : runnable.map((command, nth) => runButton(command, nth));
  return message(`${text}: ${found.map(({ command }) => `/cdn ${command.name}`).join(', ')}`, [
    section(
      [`*${text}*`, needsKey && ':key: Some need your CDN key: connect it first.'],
      needsKey && connectButton(),
    ),
    found.length <= mostDescribed
      ? section(truncateLines(found.map(describe), 2800, '\n\n'))
      : section(truncateLines(found.map(describeInLine), 2800)),
    actions(...buttons, isRefused ? commandButton('My permissions', 'whoami', 8) : allCommands),
  ]);
}

const allCommands = commandButton('All commands', 'help', 9);

function runButton({ name, label }: CommandSummary, nth: number, isPrimary = false): Button {
  return commandButton(label ?? capitalize(name), name, nth, isPrimary ? { style: 'primary' } : {});
}

export type NamedZone = { readonly id: string; readonly name: string };

/** An unknown word (`typed`), or words with several meanings. `near` are the words of commands that it may stand for, `zones` those whose name it may be. */
export function renderUnknownCommand(unknown: {
  readonly typed?: string;
  /** Instead of a guess: what the bot cannot do. */
  readonly note?: string | undefined;
  readonly near: readonly string[];
  readonly zones: readonly NamedZone[];
}): Message {
  const { typed, near, zones, note } = unknown;
  const text = note ?? (typed === undefined ? '' : `${formatCode(typed, 40)} is not a command.`);
  const guess = near.length > 0 ? 'Did you mean' : 'These may help';
  const names = near.map((words) => words.split(' ')[0]).join(' or ');
  return message(note || near.length === 0 ? text : join([text, `${guess} ${names}?`], ' '), [
    section(note ?? join([text, `${guess}:`], ' ')),
    actions(
      ...near.map((words, nth) => commandButton(`/cdn ${truncate(words, 60)}`, words, nth)),
      ...zones.map(({ id, name }, nth) =>
        commandButton(`Find the zone ${truncate(name, 50)}`, `zone ${id}`, near.length + nth),
      ),
      allCommands,
    ),
  ]);
}

function describeInLine({ command: { name, summary } }: JudgedCommand): string {
  return `\`/cdn ${name}\` ${escapeMrkdwn(summary.split(':', 1)[0] ?? summary, 200)}`;
}

function describe({ command, decision }: JudgedCommand): string {
  const { aliases = [], examples, summary, usage } = command;
  const typed = examples.map((example) => `\`/cdn ${escapeMarkup(example)}\``).join(', ');
  const others = aliases.map((alias) => formatCode(alias)).join(', ');
  const lines = [
    join([`\`/cdn ${escapeMarkup(usage)}\``, describeRight(decision)], ' '),
    escapeMrkdwn(summary, 200),
    isUsable(decision) && `For example ${typed}`,
    isUsable(decision) && others && `Also: ${others}`,
  ];
  return join(lines, '\n');
}

/** Allowed, or once a key is connected: that takes a minute. */
export function isUsable({ allowed, reason }: Decision): boolean {
  return allowed || reason === 'no-key';
}

function isLocked({ needs }: CommandSummary, linked: boolean): boolean {
  return !linked && needs !== 'none' && needs !== 'admin';
}
