import { rightsOf } from '../auth/policy.ts';
import * as views from '../views/home.ts';
import type { Feature } from './define.ts';

export const homeTab: Feature = {
  name: 'home',
  commands: [],
  home: async ({ custody, now, person, standing }) => {
    const [linked, policy, actor] = await Promise.all([
      custody.describe(person),
      standing.policy(),
      standing.actor(),
    ]);
    const rights = rightsOf(policy, actor, undefined);
    return views.home({ userId: person.userId, linked, rights, asOf: now() });
  },
};
