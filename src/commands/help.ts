import { decide } from '../auth/policy/policy.ts';
import type { Message } from '../views/blocks/blocks.ts';
import * as views from '../views/help.ts';
import { quoteName, quoteWord } from '../views/zones/rows.ts';
import { dropFillers, findMeaning, findWordsFor, knownWords, type Meaning } from './aliases.ts';
import { type Command, type Context, type Feature, findLast } from './define.ts';
import { findClosest } from './did-you-mean.ts';
import { parseWords, toWords, type Words } from './words.ts';
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
 * Answers with the zone of that name, else with what the words may mean or come near to, as buttons that keep the others.
 */
export const unknownCommand: Command = {
  name: 'unknown',
  usage: 'help',
  summary: 'Answers words that are not a command',
  examples: [],
  needs: 'none',
  async run(words, context) {
    const names = listNames(context.features);
    const [typed = ''] = words.list;
    const { text, list } = dropFillers(words);
    const meaning = findMeaning(words, (word) => names.has(word));
    const near = meaning ? [] : correct(words, names);
    const zones = list.length === 0 || (list.length > 1 && meaning) ? [] : await findZones(text, context);
    const [zone, ...others] = zones ?? [];
    const isSure = zone && (isNameOf(zone, text) || (!meaning && near.length === 0 && !('isNear' in zone)));
    if (isSure && others.length === 0 && zoneCommand.run)
      return findLast(zoneCommand.run(parseWords(zone.id), context));
    if (meaning) return renderMeaning(meaning);
    return views.renderUnknownCommand({ typed, near, zones: zones ?? [{ id: text, name: text }] });
  },
};

function renderMeaning({ commands, note }: Meaning): Message {
  return views.renderUnknownCommand({ note, near: commands.map(write), zones: [] });
}

function write({ tokens }: Words): string {
  const words = tokens.map(({ name, value }) => (name ? `${name}:${quoteWord(value)}` : quoteWord(value)));
  return words.join(' ').slice(0, 1000);
}

/** The words with the misspelled one corrected, as commands: `shop erros` → `errors shop`. */
function correct(words: Words, names: ReadonlyMap<string, string>): string[] {
  const known = [...names.keys(), ...knownWords];
  const understand = (one: Words) => findMeaning(one, (word) => names.has(word))?.commands;
  const found = words.tokens.map(({ text, name }) => (name ? [] : findClosest(text, known, 5)));
  // Behind the first word short ones come near to many.
  const isLong = (nth: number): boolean => (words.tokens[nth]?.text.length ?? 0) > 4;
  const behind = found.findIndex((near, nth) => nth > 0 && near.length > 0 && isLong(nth));
  const at =
    behind > 0 && !isLong(0)
      ? behind
      : Math.max(
          0,
          found.findIndex((near, nth) => near.length > 0 && (nth === 0 || isLong(nth))),
        );
  const near = (found[at] ?? []).flatMap((word) => {
    // `stauts shop` is not the command that `status` alone is.
    const corrected = [word, names.get(word) ?? word].map((value) =>
      toWords(
        words.raw,
        words.tokens.map((token, nth) => (nth === at ? { ...token, text: value, value } : token)),
      ),
    );
    return corrected.map(understand).find(Boolean) ?? corrected.slice(1);
  });
  return [...new Set(near.map(write))].slice(0, 3);
}

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
  if (wanted === '') {
    const usable = all.filter(({ decision }) => views.isUsable(decision));
    return views.renderMenu(usable, linked, all.length - usable.length);
  }
  const plain = dropFillers(parseWords(wanted)).text;
  const find = (text: string) => all.filter(({ feature, command }) => matches(command, feature, text));
  const exact = find(wanted);
  const found = exact.length > 0 || plain === '' ? exact : find(plain);
  // Alone, even if the person may not run them.
  const named = found.filter(({ command }) =>
    [command.name, ...(command.aliases ?? []), views.taskOf(command).toLowerCase()].includes(wanted),
  );
  const shown = named.length > 0 ? named : found;
  const mine = shown.filter(({ decision }) => views.isUsable(decision));
  if (shown.length > 0) return views.renderFound(wanted, mine.length > 0 ? mine : shown, linked);
  const names = listNames(features);
  const words = parseWords(wanted);
  const meaning = findMeaning(words, (word) => names.has(word));
  if (meaning) return renderMeaning(meaning);
  return views.renderUnknownCommand({ typed: search, near: correct(words, names), zones: [] });
}

function matches(command: views.CommandSummary, feature: string, search: string): boolean {
  const { name, aliases = [], usage, summary, examples } = command;
  const words = [feature, name, ...aliases, ...findWordsFor(name), views.taskOf(command)];
  const texts = [...words, usage, summary, ...examples].join(' ').toLowerCase();
  return search.split(/\s+/u).every((word) => texts.includes(word));
}

/** By name and alias. */
function listNames(features: readonly views.HelpGroup[]): Map<string, string> {
  return new Map(
    features.flatMap(({ commands }) =>
      commands.flatMap(({ name, aliases = [] }) => [name, ...aliases].map((word) => [word, name] as const)),
    ),
  );
}
