import { findAdmins } from '../../auth/policy/authorizer.ts';
import { type Decision, decide, type Right } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import { looksLikeKey } from '../../secrets/key-in-text.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { renderUnknownCommand } from '../../views/help.ts';
import * as views from '../../views/settings/why.ts';
import { findMeanings, isPlainWord } from '../aliases.ts';
import type { Command, Context, Feature } from '../define.ts';
import { findClosest } from '../did-you-mean.ts';
import { assertAllowed, createRefusal } from '../operations/propose.ts';

const whyCommand: Command = {
  name: 'why',
  aliases: ['may', 'can'],
  usage: 'why <command…>',
  summary: 'Whether you may run a command here, and why',
  label: 'Check a permission',
  examples: ['why zones', 'why volume delete', 'why export @somebody'],
  needs: 'none',
  // The command may be pasted with its ids.
  ids: true,
  run: (words, context) => explain(words.list, context),
};

type AskedCommand = { readonly name: string; readonly needs: Right };

export const why: Feature = {
  name: 'why',
  commands: [whyCommand],
  actions: [
    {
      id: 'why:person',
      needs: 'none',
      runsCommand: true,
      toCommand: (action, person) => `why ${action.replace('why:person:', '')} ${person}`,
    },
  ],
};

async function explain(list: readonly string[], context: Context): Promise<Message> {
  const asked = list
    .filter((word) => !isPerson(word) && !/^\/?cdn$/iu.test(word))
    .map((word) => word.replace(/^\/(?=.)|[?!.]+$/gu, ''));
  const about = list.find(isPerson);
  const [first = ''] = asked;
  if (first === '' || looksLikeKey(first)) return views.renderWhichCommand();
  const commands = findCommands(context);
  const find = (word: string) =>
    commands.get(word.toLowerCase()) ?? commands.get(findMeanings(word)[0]?.split(' ', 1)[0] ?? '');
  // `delete volumes`, `bob export`
  const at = asked.findIndex((word) => find(word));
  const wanted = find(asked[at] ?? '');
  if (!wanted) {
    const near = findClosest(first, commands.keys(), 3).map((word) => `why ${word}`);
    return renderUnknownCommand({ typed: first, near, zones: [] });
  }
  const name = asked.find((word, nth) => word.startsWith('@') || (nth < at && !isPlainWord(word)));
  if (name !== undefined && about === undefined) {
    await assertMayAskAboutOthers(wanted, context);
    return views.renderWhichPerson(name, `why:person:${wanted.name}`);
  }
  if (about === undefined || about === context.person.userId)
    return renderDecision(wanted, await context.decide(wanted.needs), undefined, context);
  await assertMayAskAboutOthers(wanted, context);
  const [policy, actor] = await Promise.all([
    context.authorizer.policy({ fresh: true }),
    context.authorizer.actor({ userId: about }),
  ]);
  return renderDecision(wanted, decide(policy, actor, context.channelId, wanted.needs), about, context);
}

/** @throws UserError which names the admins and offers what the person may do. */
async function assertMayAskAboutOthers({ name }: AskedCommand, context: Context): Promise<void> {
  const decision = await context.decide('admin');
  if (decision.reason !== 'not-admin') return assertAllowed(decision, context);
  context.refused(decision.reason);
  const { hint } = await createRefusal(decision, context);
  const own = { label: `Can I run /cdn ${name}?`, types: `why ${name}` };
  throw new UserError('Only admins can check what others may do.', hint, [own]);
}

async function renderDecision(
  wanted: AskedCommand,
  decision: Decision,
  about: string | undefined,
  context: Context,
): Promise<Message> {
  const { people, channelId, person } = context;
  // Only the look-ups that this decision used.
  const needsGroups = !['none', 'read', 'admin'].includes(wanted.needs);
  const missing = people
    .missingScopes()
    .filter(({ lookup }) => (lookup === 'admins' ? wanted.needs === 'admin' : needsGroups));
  const admins = await findAdmins(decision, context);
  return views.renderWhy({ ...wanted, decision, about, channelId, missing, admins, reader: person.userId });
}

/** By every word that names a command, with the command's words without arguments: `volume delete`. */
function findCommands({ features }: Context): Map<string, AskedCommand> {
  const commands = features.flatMap((feature) => feature.commands);
  return new Map(
    commands.flatMap(({ name, aliases = [], usage, needs }) => {
      const wanted = { name: usage.replace(/ [<[].*/u, ''), needs };
      return [name, ...aliases].map((word) => [word, wanted] as const);
    }),
  );
}

function isPerson(word: string): boolean {
  return /^[UW][A-Z0-9]{6,}$/u.test(word);
}
