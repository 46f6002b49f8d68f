import { randomUUID } from 'node:crypto';
import type { SlackSimulator } from '../../simulator/slack/server.ts';
import type { Ports } from '../../src/app/jobs/registry.ts';
import type { Person } from '../../src/auth/identity.ts';
import { scheduleDueRuns, workOnce } from '../../src/digests/jobs.ts';
import type { Digest, DigestOrder } from '../../src/digests/model.ts';
import { createDigestService, type DigestService } from '../../src/digests/service.ts';
import { Secret } from '../../src/secrets/secret.ts';
import type { Database } from '../../src/store/database.ts';
import type { Job, JobContext } from '../../src/store/queue/define-job.ts';
import type { Enqueue, EnqueueOptions } from '../../src/store/queue/queue.ts';
import { createPortsHarness, type PortsHarness } from '../slack/send/ports-harness.ts';

export const alice: Person = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
export const bob: Person = { teamId: 'T0ACME000', userId: 'U0BOB0000' };

/** A workspace with digests: the real jobs on the real ports, and a clock that goes when it is told to. */
export interface DigestHarness extends PortsHarness {
  readonly digests: DigestService;
  readonly context: JobContext<Ports>;
  readonly now: () => Date;
  /** Lets the clock go on. */
  advance(ms: number): void;
  /** A digest that runs daily at 09:00 UTC, with its owner's key. */
  createDaily(owner?: Person, more?: Partial<DigestOrder>): Promise<Digest>;
  /** Plans and works until there is nothing to do at this moment, jobs for telling people included. */
  runJobs(): Promise<void>;
  /** Works on for so long, a second at a time, or so many. */
  runJobsFor(seconds: number, step?: number): Promise<void>;
  /** What everybody reads in a channel, without its threads. */
  readChannel(channel?: string, userId?: string): string[];
  /** What was sent into channels and to people, not into threads, arrived or not. */
  channelPosts(): SlackSimulator['calls'];
  /** Each run's state by its due moment. */
  runStates(): Promise<Record<string, string>>;
}

export async function createDigestHarness(
  database: Database,
  options: { readonly adminIds?: readonly string[]; readonly fetch?: typeof globalThis.fetch } = {},
): Promise<DigestHarness> {
  let at = Date.UTC(2026, 10, 23, 8, 0, 0);
  const now = (): Date => new Date(at);
  const waiting: { job: Job<never, Ports>; data: unknown; attempt: number; at: number }[] = [];
  const enqueue: Enqueue = async (job, data, options?: EnqueueOptions) => {
    job.encode(data);
    waiting.push({
      job: job as unknown as Job<never, Ports>,
      data,
      attempt: 1,
      at: options?.at?.getTime() ?? at,
    });
    return randomUUID();
  };
  const desk = await createPortsHarness({ database, enqueue, now, ...options });
  const { db, ports, log, audit } = desk;
  const signal = new AbortController().signal;
  const context: JobContext<Ports> = { db, ports, log, now, signal, attempt: 1, lastAttempt: false };
  const digests = createDigestService({ db, audit, enqueue, now });
  for (const person of [alice, bob]) await desk.keyStore.link(person, new Secret(desk.cdn.key));

  const work = async (): Promise<void> => {
    for (;;) {
      await scheduleDueRuns(context);
      if (await workOnce(context)) continue;
      const ready = waiting.findIndex((one) => one.at <= at);
      const [next] = ready === -1 ? [] : waiting.splice(ready, 1);
      if (!next) return;
      if (!next.job.name.startsWith('digest-')) continue;
      // As the queue does: what failed runs again five seconds later.
      await next.job.run(next.data, { ...context, attempt: next.attempt }).catch(() => {
        waiting.push({ ...next, attempt: next.attempt + 1, at: at + 5_000 });
      });
    }
  };
  return {
    ...desk,
    digests,
    context,
    now,
    advance(ms) {
      at += ms;
    },
    async createDaily(owner = alice, more = {}) {
      const made = await digests.order(owner, {
        subject: {
          kinds: ['zones'],
          targets: { zones: [], shieldZones: [], apps: [] },
          only: 'always',
          timeZone: 'UTC',
        },
        schedule: { time: '09:00', zone: 'UTC', weekdays: [1, 2, 3, 4, 5, 6, 7], monthDays: [] },
        channel: 'C0OPS0000',
        ...more,
      });
      const begun = await digests.begin(made, owner);
      if (!begun) throw new Error('a new digest did not begin');
      return begun;
    },
    runJobs: work,
    async runJobsFor(seconds, step = 1) {
      for (let second = 0; second < seconds; second += step) {
        at += step * 1000;
        await work();
      }
    },
    readChannel: (channel = 'C0OPS0000', userId = 'U0ALICE00') =>
      desk.slack
        .as(userId, channel)
        .messages()
        .filter(({ threadTs }) => threadTs === undefined)
        .map(({ reads }) => reads),
    channelPosts: () =>
      desk.slack.calls.filter(
        ({ method, args }) => method === 'chat.postMessage' && args['thread_ts'] === undefined,
      ),
    async runStates() {
      const rows = await db.selectFrom('digest_runs').select(['due', 'state']).orderBy('due').execute();
      return Object.fromEntries(rows.map(({ due, state }) => [due.toISOString().slice(0, 16), state]));
    },
    [Symbol.asyncDispose]: () => desk[Symbol.asyncDispose](),
  };
}
