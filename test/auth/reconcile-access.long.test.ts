import { describe, expect, test } from 'vitest';
import type { Profile } from '../../src/auth/identity.ts';
import type { OffboardingPorts } from '../../src/auth/offboarding.ts';
import { reconcileAccessJob } from '../../src/auth/reconcile-access.ts';
import { hourMs } from '../../src/lib/time.ts';
import type { Database } from '../../src/store/database.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';

const engines = await prepareEngines();
const begun = Date.parse('2026-11-21T08:29:00Z');
const nth = (n: number): string => String(n).padStart(6, '0');
const sealed = { sealed: 'opens under no key', key_id: 'k1', version: 1 };

/** A workspace for each person, every third without an installation; one has two people, one has nobody. */
async function setUp({ db }: Database) {
  const at = new Date(begun);
  const tenants = Array.from({ length: 450 }, (_, n) => `T${nth(n)}`);
  const people = [...tenants, 'T000100'].map((tenant, n) => ({ tenant, user_id: `U${nth(n)}` }));
  await db
    .insertInto('linked_keys')
    .values(
      people.map((row) => ({ ...row, team_id: row.tenant, ...sealed, linked_at: at, fingerprint: 'f' })),
    )
    .execute();
  const installed = [...tenants.filter((_, n) => n % 3 !== 0), 'T000300EMPTY'];
  await db
    .insertInto('installations')
    .values(installed.map((tenant) => ({ tenant, ...sealed, installed_at: at })))
    .execute();
  const asked = { tenants: [] as string[], people: [] as string[] };
  const profile: Profile = { admin: false, foreign: false, deleted: false, timeZone: undefined };
  const ports: OffboardingPorts = {
    endAccess: async () => expect.unreachable(),
    async isInstalled({ teamId }) {
      asked.tenants.push(teamId ?? '');
      return true;
    },
    people: () =>
      ({
        async profile(id: string) {
          asked.people.push(id);
          return profile;
        },
      }) as never,
  };
  const run = (hour: number): Promise<void> => {
    const now = () => new Date(begun + hour * hourMs);
    const signal = new AbortController().signal;
    return reconcileAccessJob.run({}, { db, ports, log: createMemoryLog(), now, signal, attempt: 1 });
  };
  return { asked, run, everybody: people.map(({ user_id: id }) => id).toSorted() };
}

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)('within a day Slack is asked once about everybody, each hour about some', async () => {
    const { asked, everybody, run } = await setUp(await emptyDatabase());
    await run(0);
    const first = [...asked.people];
    expect(first.length).toBeGreaterThan(0);
    expect(first.length).toBeLessThan(everybody.length / 8);
    for (let hour = 1; hour < 24; hour += 1) await run(hour);
    expect(asked.people.toSorted()).toEqual(everybody);
    expect(asked.tenants).toContain('T000300EMPTY');

    asked.people.length = 0;
    await run(24);
    expect(asked.people).toEqual(first);
  });
});
