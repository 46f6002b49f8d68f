import type { ActionRequest } from '../../auth/policy/authorizer.ts';
import { decide, type Right } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/message.ts';
import * as views from '../../views/settings/why.ts';
import type { Context, With } from '../context.ts';
import type { Command, Feature } from '../define.ts';
import { findClosest } from '../did-you-mean.ts';

const whyCommand: Command<'features'> = {
  name: 'why',
  aliases: ['may', 'can'],
  usage: 'why <command…>',
  summary: 'Whether you may run a command here, and each step of that decision',
  label: 'May I?',
  examples: ['why zones', 'why volume delete', 'why export @somebody'],
  needs: 'none',
  // The command asked about may be pasted with its ids behind it.
  ids: true,
  run: (words, context) => explain(words.list, context),
};

export const why: Feature<'features'> = { name: 'why', commands: [whyCommand] };

/** What is settled about commands before they are there: their names and what they do to the world. */
const settled: Readonly<Record<string, { readonly name: string; readonly needs: Right }>> = {
  keys: { name: 'keys', needs: 'read' },
  app: { name: 'app', needs: 'read' },
  scanning: { name: 'scanning', needs: 'read' },
  errors: { name: 'errors', needs: 'read' },
  variable: { name: 'variable', needs: 'change' },
  volume: { name: 'volume delete', needs: 'destroy' },
  export: { name: 'export', needs: 'export' },
  digest: { name: 'digest', needs: 'read' },
  approvals: { name: 'approvals', needs: 'none' },
  audit: { name: 'audit', needs: 'admin' },
};

async function explain(list: readonly string[], context: With<'features'>): Promise<Message> {
  const asked = list.filter((word) => !isPerson(word)).map((word) => word.replace(/^\/(?=.)/u, ''));
  const about = list.find(isPerson);
  if (list.some((word) => /^@./u.test(word))) {
    throw new UserError(
      'That name is no mention.',
      'Type @ and pick the person from the list, or write their member ID.',
    );
  }
  const [first = ''] = asked[0]?.toLowerCase() === 'cdn' ? asked.slice(1) : asked;
  if (first === '') return views.whyWhat();
  const wanted = findWanted(first.toLowerCase(), context);
  if (!wanted) return views.whyUnknown(first, findClosest(first, namesOf(context).keys(), 3));

  if (about === undefined || about === context.person.userId) {
    const decision = await context.decide(wanted);
    return drawn(wanted, decision, undefined, context);
  }
  const asking = await context.decide({ needs: 'admin', name: 'why' });
  if (!asking.allowed) {
    throw new UserError(
      'Only admins may ask about somebody else.',
      `Ask about yourself: \`/cdn why ${wanted.name}\``,
    );
  }
  const [policy, actor] = await Promise.all([
    context.authorizer.policy({ fresh: true }),
    context.authorizer.actor({ userId: about }),
  ]);
  return drawn(wanted, decide(policy, actor, context.channelId, wanted), about, context);
}

function drawn(
  wanted: ActionRequest,
  decision: ReturnType<typeof decide>,
  about: string | undefined,
  { people, channelId }: Context,
): Message {
  // Only the look-ups that this decision used.
  const leant = people
    .missingScopes()
    .filter(({ lookup }) =>
      lookup === 'admins' ? wanted.needs === 'admin' : !['none', 'read', 'admin'].includes(wanted.needs),
    );
  return views.renderWhy({ ...wanted, decision, about, channelId, blind: leant });
}

function findWanted(word: string, context: With<'features'>): ActionRequest | undefined {
  return namesOf(context).get(word);
}

/** Every word that names a command, built or settled; what is built is right. */
function namesOf({ features }: With<'features'>): Map<string, ActionRequest> {
  const names = new Map<string, ActionRequest>(Object.entries(settled));
  for (const { name, aliases = [], needs } of features.flatMap(({ commands }) => commands)) {
    for (const word of [name, ...aliases]) names.set(word, { name: settled[word]?.name ?? name, needs });
  }
  return names;
}

function isPerson(word: string): boolean {
  return /^[UW][A-Z0-9]{6,}$/u.test(word);
}
