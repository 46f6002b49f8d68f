import { rightsOf } from '../auth/policy.ts';
import * as views from '../views/home.ts';
import type { Context, Feature } from './define.ts';

export const homeTab: Feature = {
  name: 'home',
  commands: [],
  async home(context) {
    const { custody, now, person, standing } = context;
    const [linked, policy, actor, sections] = await Promise.all([
      custody.describe(person),
      standing.policy(),
      standing.actor(),
      sectionsOf(context),
    ]);
    const rights = rightsOf(policy, actor, undefined);
    return views.home({ userId: person.userId, linked, rights, sections, asOf: now() });
  },
};

/** What features add, in their order. One that fails says so in its place, and the others stay. */
async function sectionsOf(context: Context): Promise<readonly views.HomeSection[]> {
  const drawn = context.features.map(async ({ name, homeSection }) => {
    try {
      return { name, blocks: (await homeSection?.(context)) ?? [] };
    } catch (error) {
      return { name, blocks: views.failedSection(name, context.explain(error)) };
    }
  });
  return (await Promise.all(drawn)).filter(({ blocks }) => blocks.length > 0);
}
