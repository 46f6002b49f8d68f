import { decide } from '../auth/policy/policy.ts';
import type { Message } from '../views/blocks/blocks.ts';
import * as views from '../views/help.ts';
import { quoteName, quoteWord } from '../views/zones/rows.ts';
import { findMeanings, findWordsFor, putMeaningFirst } from './aliases.ts';
import { type Command, type Context, type Feature, findLast } from './define.ts';
import { findClosest } from './did-you-mean.ts';
import { parseWords, withoutFirst } from './words.ts';
import { lookUpZone } from './zones/lookup.ts';
import { zoneCommand } from './zones/zones.ts';

const helpCommand: Command = {
  name: 'help',
  aliases: ['?', 'commands'],
  usage: 'help [all|words]',
  summary: 'What you may run: by task, or by what it does',
  examples: ['help', 'help all', 'help bandwidth'],
  needs: 'none',
  run: (words, context) => searchHelp(words.text, context),
};

/**
 * Answers with the zone of that name, else with the nearest commands and zones as buttons that keep the words behind.
 */
export const unknownCommand: Command = {
  name: 'unknown',
  usage: 'help',
  summary: 'Answers words that are not a command',
  examples: [],
  needs: 'none',
  async run(given, context) {
    const words = putMeaningFirst(given);
    const { text, list } = words;
    const [typed = ''] = list;
    const following = withoutFirst(words)
      .tokens.map(({ name, value }) => (name ? `${name}:${quoteWord(value)}` : quoteWord(value)))
      .join(' ');
    const meanings = findMeanings(typed);
    const near =
      meanings.length > 0 ? meanings : findNearest(typed, context.features).map((name) => `${name} …`);
    const zones = meanings.length > 0 ? [] : await findZones(text, context);
    const [zone] = zones ?? [];
    const isMeant =
      zone && zones?.length === 1 && !('isNear' in zone) && (near.length === 0 || isNameOf(zone, text));
    if (isMeant && zoneCommand.run) return findLast(zoneCommand.run(parseWords(zone.id), context));
    return views.renderUnknownCommand({
      typed,
      near: near
        .filter((words) => following !== '' || !words.endsWith(':…'))
        .map((words) =>
          (following ? words.replace('…', following) : words.split('…', 1).join('')).trim().slice(0, 1000),
        ),
      zones: zones ?? [{ id: text, name: text }],
    });
  },
};

const mostZones = 3;

/** Undefined = this person's zones cannot be read. */
async function findZones(text: string, context: Context) {
  if (text.length > 100 || !(await context.decide('read')).allowed) return undefined;
  try {
    const found = await lookUpZone(text, context);
    if (found.kind === 'one') return [found.zone];
    return found.kind === 'none'
      ? found.near.map((name) => ({ id: quoteName(name), name, isNear: true }))
      : found.zones.slice(0, mostZones);
  } catch (error) {
    context.explain(error);
    return undefined;
  }
}

function isNameOf({ id, name }: views.NamedZone, text: string): boolean {
  return name.toLowerCase() === text.toLowerCase() || id === text;
}

export const help: Feature = {
  name: 'help',
  commands: [helpCommand],
  actions: [{ id: 'help:run', needs: 'none', runsCommand: true }],
};

async function searchHelp(search: string, context: Context): Promise<Message> {
  const { channelId, features, authorizer } = context;
  const [policy, actor] = await Promise.all([authorizer.policy(), authorizer.actor()]);
  const { linked } = actor;
  const wanted = search.toLowerCase().replace(/^\/?cdn\s+|^(?:me|us|please)$/u, '');
  const all = features.flatMap(({ name: feature, commands }) =>
    commands.map((command) => ({
      feature,
      command,
      decision: decide(policy, actor, channelId, command.needs),
    })),
  );
  if (wanted === 'all') return views.renderAllCommands(all);
  const found = all.filter(({ feature, command }) => matches(command, feature, wanted));
  // Alone, even if the person may not run them.
  const named = found.filter(({ command }) =>
    [command.name, ...(command.aliases ?? []), views.taskOf(command).toLowerCase()].includes(wanted),
  );
  const shown = named.length > 0 ? named : found;
  const mine = shown.filter(({ decision }) => views.isUsable(decision));
  if (wanted === '') return views.renderMenu(mine, linked, all.length - mine.length);
  if (shown.length > 0) return views.renderFound(wanted, mine.length > 0 ? mine : shown, linked);
  const near = findNearest(wanted.split(' ')[0] ?? '', features);
  return views.renderUnknownCommand({ typed: search, near, zones: [] });
}

function matches(command: views.CommandSummary, feature: string, search: string): boolean {
  const { name, aliases = [], usage, summary, examples } = command;
  const words = [feature, name, ...aliases, ...findWordsFor(name), views.taskOf(command)];
  const texts = [...words, usage, summary, ...examples].join(' ').toLowerCase();
  return search.split(/\s+/u).every((word) => texts.includes(word));
}

function findNearest(typed: string, features: readonly views.HelpGroup[]): string[] {
  const names = new Map(
    features.flatMap(({ commands }) =>
      commands.flatMap(({ name, aliases = [] }) => [name, ...aliases].map((word) => [word, name] as const)),
    ),
  );
  return [...new Set(findClosest(typed, names.keys(), 5).map((word) => names.get(word) ?? word))].slice(0, 3);
}
