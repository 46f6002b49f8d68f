import { randomUUID } from 'node:crypto';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { minuteMs } from '../lib/time.ts';
import { defineJob } from '../store/queue/define-job.ts';
import { collectRun } from './collect-run.ts';
import { channelIntervalMs, methodCatchUpMs, methodIntervalMs, postMethod } from './pace.ts';
import { planRun } from './plan.ts';
import type { DigestContext } from './ports.ts';
import {
  claimRunToCollect,
  claimRunToLookUp,
  claimRunToSend,
  findNextCollectTime,
  findNextSendTime,
} from './queries/claim-runs.ts';
import { findDueDigests } from './queries/digests.ts';
import { storePlannedRun } from './queries/schedule-runs.ts';
import { readDigest } from './row.ts';
import { lookUpMessage, sendNextMessage } from './send-run.ts';

/** Planned before they are due, so that a late minute of the queue delays none of them. */
const aheadMs = 90_000;
/** As many digests as are planned between two looks at what else there is to do. */
const batch = 200;

/** As many runs as one process works on at once: most of their time is waiting for the CDN, or for Slack. */
const collectorsAtOnce = 3;
const sendersAtOnce = 3;
/** A wait for longer than this is a job of its own: a stop of the bot waits for what runs. */
const longestWaitMs = 5_000;
/** What is further away is left to the next minute. */
/** Then the queue gets its worker back, for what somebody waits for, and another job goes on. */
const longestShiftMs = 45_000;

/** Another process takes over what is being collected, or sent, for longer than this. */
const collectingLostMs = 4 * minuteMs;
const sendingLostMs = 20_000;

/** Every minute: plans what is due, and works until nothing is. */
export const digestsDueJob = defineJob({
  name: 'digests',
  cron: '* * * * *',
  data: z.object({}),
  // The next minute does the same.
  retries: 0,
  timeLimitSeconds: (longestShiftMs + 5 * minuteMs) / 1000,
  async run(_data, context: DigestContext) {
    await scheduleDueRuns(context);
    await workOff(context);
  },
});

/** For what somebody waits for: works without waiting for the minute. */
export const digestsNowJob = defineJob({
  name: 'digests-now',
  data: z.object({}),
  retries: 2,
  timeLimitSeconds: (longestShiftMs + 5 * minuteMs) / 1000,
  run: async (_data, context: DigestContext) => workOff(context),
});

/** Plans every run that is due by now or soon. Any number of processes may do so at once, late or twice. */
export async function scheduleDueRuns({
  db,
  now,
  signal,
  log,
}: Pick<DigestContext, 'db' | 'now' | 'signal' | 'log'>): Promise<void> {
  for (;;) {
    const rows = await findDueDigests(db, new Date(now().getTime() + aheadMs), batch);
    let moved = 0;
    for (const row of rows) {
      if (signal.aborted) return;
      if (row.next_due === null) continue;
      const { planned, next } = planRun(readDigest(row), row.next_due, now());
      if (await storePlannedRun(db, row, planned, next)) moved += 1;
      await nextTurn();
      if (planned.missed > 0)
        log.warn({ digest: row.id, missed: planned.missed }, 'runs of a digest were missed');
    }
    // What did not move was planned by somebody else meanwhile.
    if (rows.length < batch || moved === 0) return;
  }
}

/** Does whatever there is to do, and waits for what is to be done in a moment. */
async function workOff(context: DigestContext): Promise<void> {
  const { db } = context;
  // Those who send stay as long as something may be collected here, and hear of it at once.
  let collected = new AbortController();
  let isCollecting = true;
  const tell = (): void => {
    const told = collected;
    collected = new AbortController();
    told.abort();
  };
  const collect = async (about: DigestContext): Promise<boolean> => collectOnce(about).finally(tell);
  const collecting = shifts({
    atOnce: collectorsAtOnce,
    step: collect,
    next: () => findNextCollectTime(db, { lostMs: collectingLostMs }),
    context,
  }).finally(() => {
    isCollecting = false;
    tell();
  });
  const sending = shifts({
    atOnce: sendersAtOnce,
    step: sendOnce,
    next: () => findNextSendTime(db, { lostMs: sendingLostMs, method: postMethod }),
    stays: () => (isCollecting ? collected.signal : undefined),
    context,
  });
  await Promise.all([collecting, sending]);
}

interface Shifts {
  readonly atOnce: number;
  readonly step: typeof workOnce;
  /** When there is next something to do. */
  readonly next: () => Promise<Date | undefined>;
  /** What ends a wait early; as long as there is such a thing nobody leaves. */
  readonly stays?: () => AbortSignal | undefined;
  readonly context: DigestContext;
}

/** So many that do one kind of step, until there is none within a moment or their time is over; then a job goes on. */
async function shifts({ atOnce, step, next, stays, context }: Shifts): Promise<void> {
  const { signal, now, ports } = context;
  const until = performance.now() + longestShiftMs;
  const nextIn = async (): Promise<number> =>
    ((await next())?.getTime() ?? Number.POSITIVE_INFINITY) - now().getTime();
  const shift = async (): Promise<void> => {
    while (!signal.aborted && performance.now() < until) {
      const news = stays?.();
      const worked = await step(context);
      // The embedded database answers without leaving this thread: deliveries of Slack have to get their turn.
      await nextTurn();
      if (worked) continue;
      const wait = await nextIn();
      if (wait > longestWaitMs && !news) return;
      // A moment more: what another process has just taken is not looked at again and again.
      const pauseMs = Math.max(5, Math.min(wait, longestWaitMs) + 5);
      await delay(pauseMs, undefined, { signal: news ? AbortSignal.any([signal, news]) : signal }).catch(
        () => undefined,
      );
    }
  };
  await Promise.all(Array.from({ length: atOnce }, shift));
  const left = await nextIn();
  if (signal.aborted || left > minuteMs) return;
  await ports.enqueue(digestsNowJob, {}, { at: new Date(now().getTime() + Math.max(0, left)) });
}

/**
 * Takes one step of one run: what may have been sent before what is to be sent before what is to be collected. False =
 * there is none at this moment.
 */
export async function workOnce(context: DigestContext): Promise<boolean> {
  return (await sendOnce(context)) || collectOnce(context);
}

export async function sendOnce(context: DigestContext): Promise<boolean> {
  const at = context.now();
  const taking = { claim: randomUUID(), now: at };
  const lost = new Date(at.getTime() - sendingLostMs);
  const unheardOf = await claimRunToLookUp(context.db, taking, lost, new Date(at.getTime() + minuteMs));
  if (unheardOf) return done(lookUpMessage(unheardOf, context), context);
  const claimed = performance.now();
  const ready = await claimRunToSend(context.db, taking, {
    channelMs: channelIntervalMs,
    methodMs: methodIntervalMs,
    methodCatchUpMs,
    method: postMethod,
  });
  if (ready === 'busy') return true;
  return ready ? done(sendNextMessage(ready, claimed, context), context) : false;
}

export async function collectOnce(context: DigestContext): Promise<boolean> {
  const at = context.now();
  const lost = new Date(at.getTime() - collectingLostMs);
  const due = await claimRunToCollect(context.db, { claim: randomUUID(), now: at }, lost);
  return due ? done(collectRun(due, context), context) : false;
}

async function done(work: Promise<void>, { log }: DigestContext): Promise<true> {
  // Left as it is: whoever finds the run lost goes on with it.
  await work.catch((error: unknown) => log.error({ error }, 'a step of a digest failed'));
  return true;
}
