import { describe, expect, test } from 'vitest';
import type { Profile } from '../../src/auth/identity.ts';
import type { OffboardingPorts } from '../../src/auth/offboarding.ts';
import { reconcileAccessJob } from '../../src/auth/reconcile-access.ts';
import { hourMs } from '../../src/lib/time.ts';
import type { Database } from '../../src/store/database.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';

const engines = await prepareEngines();
const begun = Date.parse('2026-11-21T08:29:00Z');
/** More than two batches. */
const workspaces = 450;
const nth = (n: number): string => String(n).padStart(6, '0');
const sealed = { sealed: 'opens under no key', key_id: 'k1', version: 1 };

/** A workspace for each person, every third without an installation of its own; one has two people, one has nobody. */
async function setUp({ db }: Database) {
  const at = new Date(begun);
  const tenants = Array.from({ length: workspaces }, (_, n) => `T${nth(n)}`);
  const people = [...tenants, 'T000100'].map((tenant, n) => ({ tenant, user_id: `U${nth(n)}` }));
  const keys = people.map((person) => ({ ...person, team_id: person.tenant, ...sealed, linked_at: at }));
  await db
    .insertInto('linked_keys')
    .values(keys.map((row) => ({ ...row, fingerprint: 'f' })))
    .execute();
  const installed = tenants.filter((_, n) => n % 3 !== 0).map((tenant) => ({ tenant, ...sealed }));
  await db
    .insertInto('installations')
    .values(
      [...installed, { tenant: 'T000300EMPTY', ...sealed }].map((row) => ({ ...row, installed_at: at })),
    )
    .execute();
  const asked = { tenants: [] as string[], people: [] as string[] };
  let clock = begun;
  let onPerson: (() => void) | undefined;
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
          onPerson?.();
          return profile;
        },
      }) as never,
  };
  return {
    asked,
    everybody: people.map(({ user_id: id }) => id).toSorted(),
    /** Runs the job `hours` after the first: each person takes `takesMs`, and after so many of them it is killed. */
    run: async (hours: number, { takesMs = 0, killAfter = Infinity } = {}): Promise<void> => {
      clock = begun + hours * hourMs;
      const kill = new AbortController();
      let count = 0;
      onPerson = () => {
        clock += takesMs;
        count += 1;
        if (count === killAfter) kill.abort();
      };
      const log = createMemoryLog();
      const context = { db, ports, log, now: () => new Date(clock), signal: kill.signal, attempt: 1 };
      await reconcileAccessJob.run({}, context);
    },
  };
}

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)('a killed comparison with Slack goes on where it stopped, once a day', async () => {
    const { asked, everybody, run } = await setUp(await emptyDatabase());
    await expect(run(0, { killAfter: 300 })).rejects.toThrow('aborted');
    const before = asked.people.length;
    expect(before).toBeLessThan(350);
    await run(0.1);
    expect([...new Set(asked.people)].toSorted()).toEqual(everybody);
    expect(asked.tenants).toContain('T000300EMPTY');
    // The batch in which it was killed, and no other, was asked twice.
    expect(asked.people.length - everybody.length).toBeLessThan(200);
    expect(asked.people.length - before).toBeLessThan(300);

    asked.people.length = 0;
    await run(1);
    await run(23);
    expect(asked.people).toEqual([]);
    await run(24);
    expect(asked.people.toSorted()).toEqual(everybody);
  });

  test.skipIf(skip)(
    'where there are too many for one run the next ones reach the rest, once each',
    async () => {
      const { asked, everybody, run } = await setUp(await emptyDatabase());
      const reached: number[] = [];
      for (const hours of [0, 1, 2, 3]) {
        await run(hours, { takesMs: 30_000 });
        reached.push(asked.people.length);
      }
      expect(reached[0]).toBeLessThan(201);
      expect(reached[1]).toBeLessThan(401);
      expect(reached[3]).toBe(everybody.length);
      expect(asked.people.toSorted()).toEqual(everybody);
    },
  );
});
