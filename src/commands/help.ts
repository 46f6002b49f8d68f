import { type Decision, decide, type Right, rights } from '../auth/policy/policy.ts';
import { createCache } from '../lib/cache.ts';
import { looksLikeKey } from '../secrets/key-in-text.ts';
import type { Message } from '../views/blocks/blocks.ts';
import * as views from '../views/help.ts';
import type { Command, Feature, With } from './define.ts';
import { findClosest } from './did-you-mean.ts';

const helpCommand: Command<'features'> = {
  name: 'help',
  aliases: ['?', 'commands'],
  usage: 'help [all|words]',
  summary: 'What you may run: by task, or by what it does',
  examples: ['help', 'help all', 'help bandwidth'],
  needs: 'none',
  run: (words, context) => searchHelp(words.text, context),
};

/** Answers an unknown word with the nearest commands as buttons, which keep the words after it. */
export const unknownCommand: Command<'features'> = {
  name: 'unknown',
  usage: 'help',
  summary: 'Answers words that are no command',
  examples: [],
  needs: 'none',
  run: ({ raw, list: [typed = '', ...rest], named }, { features }) => {
    // `findCommand` refuses keys; if one gets here, it is not shown.
    const isKey = looksLikeKey(raw);
    const following = [...rest, ...Object.entries(named).map(([name, value]) => `${name}:${value}`)];
    const answers = findByKeyword(typed, features);
    const near =
      answers.length > 0 ? answers : findNearest(typed, features).map((name) => ({ name, words: name }));
    const isName = /^[\w-]+(?:\.[\w-]+)*$/u.test(typed) && rest.length === 0;
    return views.renderUnknownCommand({
      typed: isKey ? undefined : typed,
      near: near.map(({ name, words }) => ({ name, words: isKey ? name : joinTyped([words, ...following]) })),
      zone: isName && !isKey ? typed : undefined,
    });
  },
};

export const help: Feature<'features'> = {
  name: 'help',
  commands: [helpCommand],
  actions: [{ id: 'help:run', needs: 'none', runsCommand: true }],
};

async function searchHelp(search: string, context: With<'features'>): Promise<Message> {
  const { channelId, features, authorizer } = context;
  const [policy, actor] = await Promise.all([authorizer.policy(), authorizer.actor()]);
  const { linked } = actor;
  const wanted = search.toLowerCase().replace(/^\/?cdn\s+/u, '');
  // Few rights decide about many commands.
  const decisions = Object.fromEntries(
    rights.map((needs) => [needs, decide(policy, actor, channelId, needs)]),
  ) as Decisions;
  if (wanted === '') return findMenu(features, decisions, linked);
  if (wanted === 'all') return views.renderAllCommands(judge(listCommands(features), decisions));
  const found = features.flatMap(({ name, commands }) =>
    commands.filter((command) => matches(command, name, wanted)),
  );
  const [mine, others] = divide(judge(found, decisions));
  // A command asked for by name is shown even if the person may not run it.
  const isNamed = ({ command: { name, aliases = [] } }: views.JudgedCommand): boolean =>
    [name, ...aliases].includes(wanted);
  const named = others.filter(isNamed);
  if (named.length > 0) return views.renderRefusedCommands(named);
  const exact = mine.filter(isNamed);
  if (mine.length > 0) return views.renderFound(wanted, exact.length > 0 ? exact : mine, linked);
  if (others.length > 0) return views.renderRefusedCommands(others);
  const near = findNearest(wanted.split(' ')[0] ?? '', features);
  return views.renderNoHelp(looksLikeKey(search) ? '' : search, near);
}

type Decisions = Readonly<Record<Right, Decision>>;

/** Menus by what their readers may run. Most people have one of a few, and drawing it is a tenth of an answer. */
const menus = createCache<Message>({ now: () => new Date(), maxEntries: 100 });

function findMenu(features: readonly views.HelpGroup[], decisions: Decisions, linked: boolean): Message {
  const key = [linked, ...Object.values(decisions).map(({ allowed, reason }) => allowed || reason)].join(' ');
  const known = menus.get(key);
  if (known) return known;
  const [mine, others] = divide(judge(listCommands(features), decisions));
  const menu = views.renderMenu(mine, linked, others.length);
  menus.set(key, menu);
  return menu;
}

function listCommands(features: readonly views.HelpGroup[]): views.CommandSummary[] {
  return features.flatMap(({ commands }) => commands);
}

function judge(commands: readonly views.CommandSummary[], decisions: Decisions): views.JudgedCommand[] {
  return commands.map((command) => ({ command, decision: decisions[command.needs] }));
}

/** What the reader may run, and the rest. Commands that only lack a key are shown: connecting one takes a minute. */
function divide(judged: readonly views.JudgedCommand[]) {
  const mine = judged.filter(({ decision }) => decision.allowed || decision.reason === 'no-key');
  return [mine, judged.filter((one) => !mine.includes(one))] as const;
}

/** Whether every word of the search is in the texts of a command. */
function matches(command: views.CommandSummary, feature: string, search: string): boolean {
  const { name, aliases = [], keywords = {}, usage, summary, examples } = command;
  const texts = [feature, name, ...aliases, ...Object.keys(keywords), usage, summary, ...examples]
    .join(' ')
    .toLowerCase();
  return search.split(/\s+/u).every((word) => texts.includes(word));
}

/** The commands that answer a common word, with what to type. */
function findByKeyword(typed: string, features: readonly views.HelpGroup[]) {
  const wanted = typed.toLowerCase();
  return listCommands(features)
    .flatMap(({ name, keywords = {} }) =>
      Object.entries(keywords)
        .filter(([word]) => word === wanted)
        .map(([, words]) => ({ name, words })),
    )
    .slice(0, 3);
}

/** Names of the commands nearest to a word; an alias stands for its command. */
function findNearest(typed: string, features: readonly views.HelpGroup[]): string[] {
  const commands = listCommands(features);
  const names = new Map(
    commands.flatMap(({ name, aliases = [] }) => [name, ...aliases].map((word) => [word, name])),
  );
  return [...new Set(findClosest(typed, names.keys(), 5).map((word) => names.get(word) ?? word))].slice(0, 3);
}

function joinTyped([words = '', ...following]: readonly string[]): string {
  return [words, ...following.map((word) => (/\s/u.test(word) ? `"${word}"` : word))]
    .join(' ')
    .slice(0, 1000);
}
