import type { HomeView } from '@slack/types';
import { type Actor, computeRights, decide, type Policy } from '../auth/policy/policy.ts';
import type { CommandSummary } from '../views/help.ts';
import * as views from '../views/home.ts';
import type { Service, With } from './context.ts';
import type { Feature } from './define.ts';

export const homeTab: Feature<'features'> = {
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
      async load(_, context) {
        const { authorizer } = context;
        const [policy, actor] = await Promise.all([authorizer.policy(), authorizer.actor()]);
        return views.renderMenu({ groups: groupsFor(policy, actor, context), linked: actor.linked });
      },
    },
  ],
};

/** The Home tab of one person. */
export async function loadHome(
  context: With<Service>,
  features: readonly Feature<Service>[],
): Promise<HomeView> {
  const { keyStore, now, person, authorizer } = context;
  const [linked, policy, actor, sections] = await Promise.all([
    keyStore.describe(person),
    authorizer.policy(),
    authorizer.actor(),
    loadSections(context, features),
  ]);
  return views.renderHome({
    userId: person.userId,
    linked,
    rights: computeRights(policy, actor, undefined),
    groups: groupsFor(policy, actor, context),
    sections,
    asOf: now(),
  });
}

/** Shown with the key itself. */
const keyCommands = new Set(['connect', 'disconnect']);

/** The commands that this person may run, by their effect. */
function groupsFor(
  policy: Policy,
  actor: Actor,
  { channelId, features }: With<'features'>,
): views.CommandGroup[] {
  const mine = features
    .flatMap(({ commands }) => commands)
    .filter(({ name }) => !keyCommands.has(name))
    .filter((command) => decide(policy, actor, channelId, command.needs).allowed);
  return [...Map.groupBy(mine, groupOf)].map(([title, commands]) => ({ title, commands }));
}

function groupOf({ needs }: CommandSummary): string {
  if (needs === 'read') return 'Look';
  return needs === 'none' || needs === 'admin' ? 'This bot' : 'Act';
}

/** The sections of the features, in their order. A section that fails shows why, and the others stay. */
async function loadSections(
  context: With<Service>,
  features: readonly Feature<Service>[],
): Promise<readonly views.HomeSection[]> {
  const sections = features.map(async ({ name, homeSection }) => {
    try {
      return { name, blocks: (await homeSection?.(context)) ?? [] };
    } catch (error) {
      return { name, blocks: views.renderFailedSection(name, context.explain(error)) };
    }
  });
  return (await Promise.all(sections)).filter(({ blocks }) => blocks.length > 0);
}
