import { jobs, type Ports } from '../../../src/app/jobs.ts';
import type { Person } from '../../../src/auth/identity.ts';
import { findDigestKind } from '../../../src/commands/reports/checks/list.ts';
import { createPauseHook, createReports, type ReportService } from '../../../src/commands/reports/life.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import type { Database } from '../../../src/store/database.ts';
import type { JobContext } from '../../../src/store/queue.ts';
import type { Digest, DigestOrder } from '../../../src/views/reports/report.ts';
import { createPortsHarness } from '../../slack/send/ports-harness.ts';
import { createFakeQueue } from '../../store/queue/fake-queue.ts';

export const alice: Person = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
export const bob: Person = { teamId: 'T0ACME000', userId: 'U0BOB0000' };

/** A workspace with digests: the real jobs on the real ports, with a clock that only tests advance. */
export type DigestHarness = Awaited<ReturnType<typeof createDigestHarness>>;

export async function createDigestHarness(
  database: Database,
  options: { readonly adminIds?: readonly string[]; readonly fetch?: typeof globalThis.fetch } = {},
) {
  let at = Date.UTC(2026, 10, 23, 8, 0, 0);
  const now = (): Date => new Date(at);
  const queue = createFakeQueue(now);
  const { enqueue } = queue;
  const harness = await createPortsHarness({ database, enqueue, now, ...options });
  const { db, ports, log, audit } = harness;
  const signal = new AbortController().signal;
  const context: JobContext<Ports> = { db, ports, log, now, signal, attempt: 1 };
  const createService = (more: Partial<Parameters<typeof createReports>[0]> = {}): ReportService =>
    createReports({ db, audit, outbox: ports.outbox, people: ports.people, enqueue, now, ...more });
  const reports = createService();
  for (const person of [alice, bob]) await harness.keyStore.link(person, new Secret(harness.cdn.key));

  const random = harness.slack.world.channels.get('C0RANDOM0');
  if (random) random.botIsMember = true;

  const work = async (): Promise<void> => {
    while (await queue.runNext(jobs, context));
  };
  return {
    ...harness,
    reports,
    createService,
    pauseFor: createPauseHook({ db, audit, outbox: ports.outbox, people: ports.people, enqueue, now }),
    queue,
    context,
    now,
    advance(ms: number) {
      at += ms;
    },
    /** A digest that runs daily at 09:00 UTC, with its owner's key. */
    async createDaily(owner: Person = alice, more: Partial<DigestOrder> = {}) {
      const made = await reports.create(owner, {
        subject: {
          kinds: ['zones'].map(findDigestKind),
          targets: { zones: [], shieldZones: [], apps: [] },
          only: 'always',
          timeZone: 'UTC',
        },
        schedule: { time: '09:00', zone: 'UTC', weekdays: [1, 2, 3, 4, 5, 6, 7], monthDays: [] },
        channel: 'C0OPS0000',
        ...more,
      });
      return made as Digest;
    },
    /** Runs jobs until none is due at this moment. */
    runJobs: work,
    /** Advances the clock and runs jobs, `step` seconds at a time. */
    async runJobsFor(seconds: number, step = 1) {
      for (let second = 0; second < seconds; second += step) {
        at += step * 1000;
        await work();
      }
    },
    readChannel: (channel = 'C0OPS0000', userId = 'U0ALICE00') =>
      harness.slack
        .as(userId, channel)
        .messages()
        .filter(({ threadTs }) => threadTs === undefined)
        .map(({ reads }) => reads),
    channelPosts: () =>
      harness.slack.calls.filter(
        ({ method, args }) => method === 'chat.postMessage' && args['thread_ts'] === undefined,
      ),
    /** The states of runs by the moment they were due. */
    async runStates() {
      const rows = await db.selectFrom('report_runs').select(['due', 'state']).orderBy('due').execute();
      return Object.fromEntries(rows.map(({ due, state }) => [due.toISOString().slice(0, 16), state]));
    },
  };
}
