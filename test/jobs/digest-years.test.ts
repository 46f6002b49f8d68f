import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { CdnClient } from '../../src/api/cdn.ts';
import { createAudit } from '../../src/auth/audit.ts';
import { initialPolicy } from '../../src/auth/policy.ts';
import type { Standing } from '../../src/auth/standing.ts';
import type { JobContext } from '../../src/jobs/define.ts';
import { createDigests } from '../../src/jobs/digest-book.ts';
import { planDue, workOnce } from '../../src/jobs/digests.ts';
import type { Marker, Ports, SlackPort } from '../../src/jobs/ports.ts';
import { nextRuns, type Schedule } from '../../src/reports/schedule.ts';
import { nextToCollect, nextToSend } from '../../src/store/digest-runs.ts';
import { enginesUnderTest, keptLog } from '../store/engines.ts';

const { embedded } = await enginesUnderTest();

const zones = [
  'Europe/Vienna',
  'Europe/London',
  'Europe/Dublin',
  'Europe/Lisbon',
  'Europe/Istanbul',
  'Europe/Chisinau',
  'Atlantic/Azores',
  'America/New_York',
  'America/Chicago',
  'America/Los_Angeles',
  'America/St_Johns',
  'America/Havana',
  'America/Santiago',
  'America/Asuncion',
  'America/Sao_Paulo',
  'America/Nuuk',
  'America/Scoresbysund',
  'America/Mexico_City',
  'America/Caracas',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Africa/El_Aaiun',
  'Africa/Johannesburg',
  'Asia/Amman',
  'Asia/Beirut',
  'Asia/Gaza',
  'Asia/Jerusalem',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Tehran',
  'Asia/Tokyo',
  'Asia/Pyongyang',
  'Australia/Lord_Howe',
  'Australia/Sydney',
  'Australia/Eucla',
  'Pacific/Auckland',
  'Pacific/Chatham',
  'Pacific/Easter',
  'Pacific/Kiritimati',
  'Antarctica/Troll',
]; // prettier-ignore

const hour = 3_600_000;
const from = Date.UTC(2019, 11, 30);
const until = Date.UTC(2029, 11, 30);

/** The same throws each time the test runs. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * Processes that die at any point at which they wait for something outside: the step that waited is never heard of
 * again, and what it held stays as it was.
 */
function dying(chance: () => boolean): {
  dies(): Promise<void>;
  alive<T>(step: Promise<T>): Promise<T | 'dead'>;
} {
  let died = Promise.withResolvers<'dead'>();
  return {
    async dies() {
      if (!chance()) return;
      died.resolve('dead');
      await new Promise(() => undefined);
    },
    alive(step) {
      died = Promise.withResolvers<'dead'>();
      return Promise.race([step, died.promise]);
    },
  };
}

test('ten years in forty zones, two processes that keep dying: no run is lost, none is posted twice', async () => {
  const { db } = await embedded.empty();
  const throwDice = dice(7);
  let at = from;
  const now = (): Date => new Date(at);
  // What is in the channels: a Slack that is nothing but its messages.
  const posted = new Map<string, number>();

  const process = (chance: number) => {
    const fate = dying(() => throwDice() < chance);
    const slack: Pick<SlackPort, 'post' | 'find'> = {
      async post(channel, _message, { marker } = {}) {
        await fate.dies();
        if (marker) posted.set(keyOf(marker), (posted.get(keyOf(marker)) ?? 0) + 1);
        await fate.dies();
        return { channel, ts: '1.000001' };
      },
      async find(marker) {
        await fate.dies();
        return posted.has(keyOf(marker)) ? { channel: 'C0OPS0000', ts: '1.000001' } : undefined;
      },
    };
    const standing = {
      decide: async () => ({ allowed: true, reason: 'own-key', trace: [] }),
      policy: async () => initialPolicy,
    };
    const pullZones = { all: async () => ({ zones: [], skipped: 0 }) };
    const ports = {
      slack: () => slack as SlackPort,
      async cdn() {
        await fate.dies();
        return { pullZones } as unknown as CdnClient;
      },
      standing: () => standing as unknown as Standing,
      enqueue: async () => randomUUID(),
    } as unknown as Ports;
    const { signal } = new AbortController();
    const context: JobContext = { db, ports, log: keptLog(), now, signal, attempt: 1, lastAttempt: false };
    return async (): Promise<void> => {
      if ((await fate.alive(planDue(context))) === 'dead') return;
      while ((await fate.alive(workOnce(context))) === true);
    };
  };

  const digests = createDigests({
    db,
    audit: createAudit({ db, now }),
    enqueue: async () => randomUUID(),
    now,
  });
  const schedules = new Map<string, Schedule>();
  for (const [index, zone] of zones.entries()) {
    const time = ['02:30', '00:00', '01:45', '23:30'][index % 4] ?? '';
    // A workspace each: within one, posts wait for each other, and this clock goes in minutes.
    const owner = { teamId: `T0ZONE${index}`, userId: 'U0ALICE00' };
    const schedule: Schedule = { time, zone, weekdays: [], monthDays: [31] };
    const order = {
      subject: {
        kinds: ['zones'],
        targets: { zones: [], shieldZones: [], apps: [] },
        only: 'always',
        timeZone: zone,
      },
      schedule,
      channel: `C0ZONE${index}`,
    } as const;
    const made = await digests.begin(await digests.order(owner, order), owner);
    schedules.set(made?.id ?? '', schedule);
  }

  const processes = [process(0.1), process(0.1)];
  let absences = 0;
  let steps = 0;
  for (;;) {
    const { due } = await db
      .selectFrom('digests')
      .select(({ fn }) => fn.min('next_due').as('due'))
      .executeTakeFirstOrThrow();
    const send = await nextToSend(db, { lostMs: 20_000, method: 'chat.postMessage' });
    const collect = await nextToCollect(db, { lostMs: 240_000 });
    // What was begun is ended, however late the last absence was over.
    const wakes = [due && due.getTime() < until ? due : undefined, send, collect];
    const next = Math.min(...wakes.map((wake) => wake?.getTime() ?? Number.POSITIVE_INFINITY));
    if (next === Number.POSITIVE_INFINITY) break;
    // Behind the moment that each of the runs begins at.
    at = Math.max(at + 1, next + 60_000);
    // Now and then nobody is there for hours or days.
    const luck = at < until ? throwDice() : 1;
    if (luck < 0.025) at += Math.floor(throwDice() * 150 * 24 * hour);
    else if (luck < 0.04) at += Math.floor(throwDice() * 12 * hour);
    if (luck < 0.04) absences += 1;
    const both = throwDice() < 0.3;
    await Promise.all(processes.filter((_, index) => both || index === steps % 2).map((step) => step()));
    steps += 1;
    // As the bot does on a timer; the embedded engine has nobody who does.
    if (steps % 500 === 0) await sql`vacuum digest_runs, digests, slack_pace`.execute(db);
  }

  expect(absences).toBeGreaterThan(20);
  const rows = await db.selectFrom('digest_runs').selectAll().execute();
  const states = new Map(rows.map((row) => [`${row.digest_id} ${row.due.toISOString()}`, row]));
  const seen = { sent: 0, skipped: 0, counted: 0 };
  const wrong: string[] = [];
  for (const [id, schedule] of schedules) {
    for (const run of nextRuns(schedule, new Date(from), 200)) {
      if (run.getTime() >= until - 24 * hour) break;
      const key = `${id} ${run.toISOString()}`;
      const state = states.get(key)?.state;
      const times = posted.get(`${key} 0`) ?? 0;
      if (state === 'sent' && times === 1) seen.sent += 1;
      else if (state === 'skipped' && times === 1) seen.skipped += 1;
      // Skipped together with a later one, whose message counts it.
      else if (state === 'skipped' && times === 0) seen.counted += 1;
      else wrong.push(`${key} in ${schedule.zone} is ${state ?? 'lost'} and was posted ${times} times`);
    }
  }
  expect(wrong).toEqual([]);
  const missed = rows.reduce((sum, row) => sum + row.missed, 0);
  expect(missed).toBeGreaterThanOrEqual(seen.counted);
  expect(seen.sent).toBeGreaterThan(400);
  expect(seen.skipped).toBeGreaterThan(10);
  expect(Math.max(...posted.values())).toBe(1);
}, 120_000);

function keyOf({ payload }: Marker): string {
  return `${payload['digest']} ${payload['due']} ${payload['part']}`;
}
