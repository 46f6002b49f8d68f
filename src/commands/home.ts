import * as views from '../views/home.ts';
import type { Feature } from './define.ts';

export const homeTab: Feature = {
  name: 'home',
  commands: [],
  home: async ({ custody, now, person }) =>
    views.home({ userId: person.userId, linked: await custody.describe(person), asOf: now() }),
};
