import type { HomeView } from '@slack/types';
import { tenantId } from '../auth/identity.ts';
import { computeRights, decide } from '../auth/policy/policy.ts';
import { renderSkeleton } from '../views/blocks/inputs.ts';
import * as views from '../views/home.ts';
import { findPausing } from './connect.ts';
import type { Context, Feature } from './define.ts';
import { findNotedErrors } from './origin-errors/read.ts';

export const homeTab: Feature = {
  name: 'home',
  commands: [],
  shortcuts: [
    {
      id: 'home:menu',
      needs: 'none',
      modal: () => renderSkeleton('CDN', 'Loading your commands…'),
      load: async (_, context) => {
        const { linked, commands } = await findAllowed(context);
        return views.renderMenu(commands, linked);
      },
    },
  ],
  async homeSection(context) {
    const { authorizer, exports, person, reports, zoneCache } = context;
    const tenant = tenantId(person);
    const [{ admin, linked }, all, recent, underWay, errors] = await Promise.all([
      authorizer.actor(),
      reports.list(tenant),
      reports.listRecentIncidents(tenant),
      exports.countUnderWay(person),
      findErrorsNow(context),
    ]);
    const alerts = new Map(all.map((report) => [report.id, report]));
    const open = recent.flatMap(({ alertId, closedAt }) => (closedAt ? [] : (alerts.get(alertId) ?? [])));
    // Admins see the alerts of everybody, others only how many incidents channels were told of.
    const others = admin ? [] : open.filter(({ owner }) => owner.userId !== person.userId);
    const incidents = open.length - others.length;
    const incidentsOfOthers = others.filter(({ channel }) => /^[CG]/u.test(channel)).length;
    // The tab never waits for the CDN.
    const mine = zoneCache.forPerson(person);
    const names = new Map(mine.get()?.zones.map(({ id, name }) => [id, name]));
    const failing = [...errors]
      .filter(([, count]) => count > 0)
      .toSorted(([, one], [, other]) => other - one)
      .map(([id]) => names.get(id));
    return views.renderState({
      linked,
      incidents,
      incidentsOfOthers,
      failing,
      checked: errors.size,
      zones: mine.state(),
      underWay,
    });
  },
};

/** By zone, as far as they are known: by jobs of this person, and by their own answers. */
async function findErrorsNow(context: Context): Promise<Map<string, number>> {
  const { accounts, authorizer, person } = context;
  const linked = await authorizer.linked();
  if (!linked) return new Map();
  const read = await accounts.recentErrors({ person, fingerprint: linked.fingerprint });
  return new Map([...read, ...findNotedErrors(context)]);
}

export async function loadHome(context: Context, features: readonly Feature[]): Promise<HomeView> {
  const { authorizer, now, person } = context;
  const [linked, { commands, rights }, sections, pausing] = await Promise.all([
    authorizer.linked(),
    findAllowed(context),
    loadSections(context, features),
    findPausing(context),
  ]);
  const { userId } = person;
  return views.renderHome({ userId, linked, rights, commands, sections, pausing, asOf: now() });
}

/** Not in Home: shown with the key, offered by answers, or useful in a channel only. */
const shownElsewhere = new Set(['connect', 'disconnect', 'name', 'here']);

async function findAllowed({ authorizer, channelId, features }: Context) {
  const [policy, actor] = await Promise.all([authorizer.policy(), authorizer.actor()]);
  const commands = features
    .flatMap(({ commands }) => commands)
    .filter(({ name }) => !shownElsewhere.has(name))
    .filter((command) => decide(policy, actor, channelId, command.needs).allowed);
  return { linked: actor.linked, rights: computeRights(policy, actor, undefined), commands };
}

/** Shown before the buttons. */
const urgent = ['home', 'approvals', 'settings'];

/** A failing section shows why, and the others stay. */
async function loadSections(context: Context, features: readonly Feature[]) {
  const first = urgent.flatMap((name) => features.find((feature) => feature.name === name) ?? []);
  const ordered = [...first, ...features.filter((feature) => !first.includes(feature))];
  const sections = ordered.map(async ({ name, homeSection }) => {
    const isUrgent = urgent.includes(name);
    try {
      return { isUrgent, blocks: (await homeSection?.(context)) ?? [] };
    } catch (error) {
      return { isUrgent, blocks: views.renderFailedSection(name, context.explain(error)) };
    }
  });
  return (await Promise.all(sections)).filter(({ blocks }) => blocks.length > 0);
}
