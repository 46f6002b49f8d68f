import { type Actor, computeRights, decide, type Policy } from '../auth/policy/policy.ts';
import * as views from '../views/home.ts';
import type { Command, Context, Feature } from './define.ts';

export const homeTab: Feature = {
  name: 'home',
  commands: [],
  shortcuts: [
    {
      id: 'home:menu',
      kind: 'global',
      name: 'CDN menu',
      description: 'Everything you may run, as buttons',
      needs: 'none',
      modal: () => views.menuSkeleton(),
      async fill(context) {
        const { authorizer } = context;
        const [policy, actor] = await Promise.all([authorizer.policy(), authorizer.actor()]);
        return views.renderMenu({ groups: groupsFor(policy, actor, context), linked: actor.linked });
      },
    },
  ],
  async home(context) {
    const { keyStore, now, person, authorizer } = context;
    const [linked, policy, actor, sections] = await Promise.all([
      keyStore.describe(person),
      authorizer.policy(),
      authorizer.actor(),
      sectionsOf(context),
    ]);
    return views.renderHome({
      userId: person.userId,
      linked,
      rights: computeRights(policy, actor, undefined),
      groups: groupsFor(policy, actor, context),
      sections,
      asOf: now(),
    });
  },
};

/** Drawn with the key itself, which asks before it is forgotten. */
const aboutTheKey = new Set(['connect', 'disconnect']);

/** The commands that somebody may run, by what they do to the world. */
function groupsFor(policy: Policy, actor: Actor, { channelId, features }: Context): views.CommandGroup[] {
  const mine = features
    .flatMap(({ commands }) => commands)
    .filter(({ name }) => !aboutTheKey.has(name))
    .filter((command) => decide(policy, actor, channelId, command).allowed);
  return [...Map.groupBy(mine, groupOf)].map(([title, commands]) => ({ title, commands }));
}

function groupOf({ needs }: Command): string {
  if (needs === 'read') return 'Look';
  return needs === 'none' || needs === 'admin' ? 'This bot' : 'Act';
}

/** What features add, in their order. One that fails says so in its place, and the others stay. */
async function sectionsOf(context: Context): Promise<readonly views.HomeSection[]> {
  const drawn = context.features.map(async ({ name, homeSection }) => {
    try {
      return { name, blocks: (await homeSection?.(context)) ?? [] };
    } catch (error) {
      return { name, blocks: views.renderFailedSection(name, context.explain(error)) };
    }
  });
  return (await Promise.all(drawn)).filter(({ blocks }) => blocks.length > 0);
}
