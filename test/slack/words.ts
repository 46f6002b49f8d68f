export { alice, bob, eve, ops } from '../support/people.ts';

/** Sentences that the tests of this folder wait for, or need in several places. */
export const says = {
  working: 'Working on it',
  databaseGone: 'can’t reach its database',
  reading: 'Reading your zones',
  busy: 'The bot is busy: too many requests are waiting. Nothing was done; try again in a moment.',
  busyMenu: 'The bot is busy: type again in a moment',
  waiting: 'Queued behind other commands.',
  notInstalled: /is not installed in this workspace/,
  notAllowed: /This workspace may not use this bot/,
  /** To people of another organization. */
  ownPeopleOnly: /people in its own organization/,
  /** The error of a field with a CDN key in it. */
  noKeysHere:
    'This looks like a CDN key. Remove it: nothing was kept. Keys go into /cdn connect and nowhere else.',
  /** Whom a page connects a key for. */
  keyFor: (name: string, domain: string) => `@${name} in ${domain}.slack.com`,
  /** The headings of the page for keys. */
  page: {
    form: 'Connect your bunny.net API key',
    used: 'This link has been used',
    takenBack: 'This link was replaced',
    unknown: 'This link does not work',
    otherSite: 'That did not come from this page',
  },
  /** The lines of a menu with search, with their values. */
  menu: {
    reading: 'Your zones are still being read: type another letter = note',
    more: (count: string) => `… and ${count} more: keep typing = note`,
    useId: (id: string) => `Use the ID ${id} = ${id}`,
    noZone: 'None of your zones matches = note',
    noApp: 'No app of your zones matches = note',
  },
} as const;

/** Whether a message or view has an element with this action id, or a button with this value. */
export function offers(id: string) {
  return ({ blocks }: { readonly blocks: readonly object[] }): boolean =>
    JSON.stringify(blocks).includes(`"${id}"`);
}
