import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { findUsualClockChange, isInClockChange } from '../../../support/digests/clock-changes.ts';
import { type KillPoint, startKillableProcess } from '../../../support/digests/killable-process.ts';
import { DigestSimulation } from '../../../support/digests/simulation.ts';
import { timeZones } from '../../../support/digests/time-zones.ts';
import { prepareEngines } from '../../../support/engines.ts';

const { embedded } = await prepareEngines();

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const from = Date.UTC(2019, 11, 30);
const until = Date.UTC(2029, 11, 30);

/** The same throws for the same numbers, whatever was thrown before (mulberry32). */
function dice(...numbers: readonly number[]): () => number {
  let state = numbers.reduce((mixed, number) => Math.imul(mixed ^ number, 0x9e37_79b1) ^ (mixed >>> 15), 1);
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Everything that was due, how it ended and what stands in the channels: what does not agree is `wrong`. */
function account(world: DigestSimulation) {
  const seen = { sent: 0, late: 0, skipped: 0, counted: 0 };
  let [told, odd] = [0, 0];
  const wrong: string[] = [];
  for (const [id, schedule] of world.schedules) {
    for (const due of world.dueTimesOf(schedule, until)) {
      const key = `${id} ${new Date(due).toISOString()}`;
      const state = world.ended.get(key) ?? 'missed';
      const [post, ...doubles] = world.posted.get(key) ?? [];
      const behind = post ? post.at - due : 0;
      const text = post?.text ?? '';
      told += Number(/(\d+) runs? before/u.exec(text)?.[1] ?? 0);
      const isLate = text.includes('Late: due');
      const isSkipped = text.startsWith('Skipped while the bot was down');
      if (doubles.length > 0) wrong.push(`${key} was posted ${doubles.length + 1} times`);
      // Made within ten minutes, and sent, or made anew, within ten more.
      else if (state === 'sent' && post && !isLate && !isSkipped && behind <= 20 * minute) {
        seen.sent += 1;
        if (isInClockChange(new Date(due), schedule.time, schedule.zone)) odd += 1;
      } else if (state === 'sent' && isLate && behind > 10 * minute && behind <= 6 * hour + 20 * minute)
        seen.late += 1;
      else if (state === 'skipped' && isSkipped && behind > 6 * hour) seen.skipped += 1;
      // The message of a later one counts it.
      else if (state === 'missed' && !post) seen.counted += 1;
      else
        wrong.push(`${key} in ${schedule.zone} is ${state}, and said ${behind / minute} min later: ${text}`);
    }
  }
  return { seen, told, odd, wrong };
}

// Another seed is another ten years. Two runs of one differ by a few too: which of two processes comes first is open.
const seed = 11;
/** Of each thing that a process waits for. */
const deadly = 0.008;
/** Of each moment at which there is something to do: nobody is there for up to two years, or for hours. */
const long = { chance: 0.015, most: 700 * day };
const short = { chance: 0.025, most: 9 * hour };

test('ten years in more than forty zones, two processes that keep dying: no run is lost, none is posted twice', async () => {
  const { db, pool } = await embedded.emptyDatabase();
  // Nobody cuts the power here.
  await sql`set synchronous_commit = off`.execute(db);
  const world = new DigestSimulation(db, from);
  await world.start();
  for (const [index, zone] of timeZones.entries()) {
    // Once a month, at the time of day that the clocks of its zone treat worst.
    const { day: inMonth, time } = findUsualClockChange(zone, from, until);
    await world.createDigest(`zone${index}`, { time, zone, weekdays: [], monthDays: [inMonth] });
  }

  const deaths: Record<KillPoint, number> = { statement: 0, transaction: 0, commit: 0, outside: 0 };
  const process = (which: number) => {
    let throwDice = dice();
    const begin = () => {
      const life = startKillableProcess(pool, (point) => {
        if (throwDice() >= deadly) return false;
        deaths[point] += 1;
        return true;
      });
      return { alive: life.untilKilled, context: world.createContext(life) };
    };
    let { alive, context } = begin();
    return async (step: number): Promise<void> => {
      throwDice = dice(seed, which, step);
      if ((await alive(world.work(context, String(which)))) !== 'dead') return;
      ({ alive, context } = begin());
      await world.giveBackJobs(String(which));
    };
  };

  const processes = [process(1), process(2)];
  const odds = world.dueTimes(until, isInClockChange);
  const before = (at: number): number => (odds.find((odd) => odd - hour > at) ?? until + hour) - hour;
  let absences = 0;
  for (let step = 0; ; step += 1) {
    const next = (await world.findNextWakeTime()) ?? Number.POSITIVE_INFINITY;
    // Every digest always has a job for its next run.
    if (next >= until + hour) break;
    // Behind the moment that each of the runs begins at.
    world.at = Math.max(world.at + 1, next + minute);
    const throwDice = dice(seed, 0, step);
    const luck = world.at < until ? throwDice() : 1;
    const most = luck < long.chance ? long.most : luck < long.chance + short.chance ? short.most : 0;
    if (most > 0) {
      const back = world.at + Math.floor(throwDice() * most);
      // Whoever was long away comes back for what the clocks do next.
      world.at = Math.min(most === long.most ? before(back) : back, until);
      absences += 1;
    }
    const both = throwDice() < 0.2;
    await Promise.all(processes.filter((_, index) => both || index === step % 2).map((work) => work(step)));
    if (step % 200 === 0) await world.runMaintenance();
  }
  await world.runMaintenance();

  const { wrong, told, odd, seen } = account(world);
  expect(wrong).toEqual([]);
  expect(Math.max(...[...world.posted.values()].map((posts) => posts.length))).toBe(1);
  // One a month and zone; the first or last of a zone may fall out of the ten years.
  expect(Object.values(seen).reduce((sum, number) => sum + number)).within(
    timeZones.length * 119,
    timeZones.length * 121,
  );
  // Each run that never began is counted in the message of another one.
  expect(told).toBe(seen.counted);
  // There was some of everything in these ten years: how much is chance.
  const happened = { ...seen, odd, absences, ...deaths };
  expect(Object.entries(happened).filter(([, times]) => times === 0)).toEqual([]);
}, 600_000);
