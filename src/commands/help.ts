import { decide } from '../auth/policy/policy.ts';
import type { Message } from '../views/blocks/message.ts';
import * as views from '../views/help.ts';
import type { With } from './context.ts';
import type { Command, Feature } from './define.ts';
import { findClosest } from './did-you-mean.ts';
import { looksLikeKey } from './key-in-text.ts';

const helpCommand: Command<'features'> = {
  name: 'help',
  aliases: ['?', 'commands'],
  usage: 'help [all|words]',
  summary: 'What you may run, or find a command by what it does',
  examples: ['help', 'help all', 'help bandwidth'],
  needs: 'none',
  run: (words, context) => find(words.text, context),
};

/** Answers a word that is no command, with the nearest ones as buttons that keep what was typed behind it. */
export const unknownCommand: Command<'features'> = {
  name: 'unknown',
  usage: 'help',
  summary: 'Answers words that are no command',
  examples: [],
  needs: 'none',
  run: (words, { features }) => {
    const [typed = '', ...rest] = words.list;
    const behind = [...rest, ...Object.entries(words.named).map(([name, value]) => `${name}:${value}`)];
    const names = nearest(typed, features);
    return views.renderUnknownCommand({
      // A key is refused before this; should one slip through, it is at least not shown again.
      typed: looksLikeKey(words.raw) ? undefined : typed,
      near: names.map((name) => ({ name, words: looksLikeKey(words.raw) ? name : said(name, behind) })),
      zone:
        /^[\w-]+(?:\.[\w-]+)*$/u.test(typed) && rest.length === 0 && !looksLikeKey(words.raw)
          ? typed
          : undefined,
    });
  },
};

export const help: Feature<'features'> = {
  name: 'help',
  commands: [helpCommand],
  actions: [{ id: 'help:run', needs: 'none', runsCommand: true }],
};

async function find(search: string, context: With<'features'>): Promise<Message> {
  const { channelId, features, authorizer } = context;
  const [policy, actor] = await Promise.all([authorizer.policy(), authorizer.actor()]);
  const { linked } = actor;
  const typed = search.toLowerCase().replace(/^\/?cdn\s+/u, '');
  const wanted = typed === 'all' ? '' : typed;
  const judged = features
    .flatMap(({ name, commands }) => commands.map((command) => ({ feature: name, command })))
    .filter(({ command, feature }) => answers(command, feature, wanted))
    .map((found) => ({ ...found, decision: decide(policy, actor, channelId, found.command) }));
  // A key is a minute away, and whoever has none yet wants to know what for.
  const mine = judged.filter(({ decision }) => decision.allowed || decision.reason === 'no-key');
  const others = judged.filter((found) => !mine.includes(found));
  if (typed === 'all') return views.renderOtherHelp(others);
  // Whoever asks for a command by its name hears of that one, also where they may not run it.
  const called = others.filter(({ command: { name, aliases = [] } }) => [name, ...aliases].includes(wanted));
  if (called.length > 0) return views.renderOtherHelp(called);
  if (mine.length > 0)
    return views.renderHelp({ search: wanted, groups: grouped(mine), linked, others: others.length });
  if (others.length > 0) return views.renderOtherHelp(others);
  return views.renderNoHelp({
    search: looksLikeKey(search) ? '' : search,
    near: nearest(wanted.split(' ')[0] ?? '', features),
  });
}

function grouped(found: readonly { feature: string; command: views.CommandSummary }[]): views.HelpGroup[] {
  const groups = Map.groupBy(found, ({ feature }) => feature);
  return [...groups].map(([name, entries]) => ({ name, commands: entries.map(({ command }) => command) }));
}

/** Every word of the search is in what a command says of itself. */
function answers(command: views.CommandSummary, feature: string, search: string): boolean {
  const { name, aliases = [], usage, summary, examples } = command;
  const says = [feature, name, ...aliases, usage, summary, ...examples].join(' ').toLowerCase();
  return search.split(/\s+/u).every((word) => says.includes(word));
}

/** Names of the commands nearest to a word; an alias stands for its command. */
function nearest(typed: string, features: readonly views.HelpGroup[]): string[] {
  const commands = features.flatMap(({ commands }) => commands);
  const names = new Map(
    commands.flatMap(({ name, aliases = [] }) => [name, ...aliases].map((word) => [word, name])),
  );
  return [...new Set(findClosest(typed, names.keys(), 5).map((word) => names.get(word) ?? word))].slice(0, 3);
}

function said(name: string, behind: readonly string[]): string {
  return [name, ...behind.map((word) => (/\s/u.test(word) ? `"${word}"` : word))].join(' ').slice(0, 1000);
}
