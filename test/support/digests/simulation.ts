import { type Kysely, sql } from 'kysely';
import { deleteOldRows } from '../../../src/app/jobs.ts';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import type { People } from '../../../src/auth/identity.ts';
import type { Authorizer } from '../../../src/auth/policy/authorizer.ts';
import { initialPolicy } from '../../../src/auth/policy/policy.ts';
import type { AccountReads } from '../../../src/commands/reports/accounts/reads.ts';
import { findDigestKind } from '../../../src/commands/reports/checks/list.ts';
import { digestMessages } from '../../../src/commands/reports/digests/run-digest.ts';
import { createReports } from '../../../src/commands/reports/life.ts';
import { digestRunJob, reportsDueJob } from '../../../src/commands/reports/runner.ts';
import type { ReportPorts } from '../../../src/commands/reports/store.ts';
import { findNextRuns, type Schedule } from '../../../src/lib/schedule.ts';
import type { DeliverPorts } from '../../../src/outbox/deliver.ts';
import { createDeliverJob } from '../../../src/outbox/deliver.ts';
import { createOutbox } from '../../../src/outbox/outbox.ts';
import type { SlackPort } from '../../../src/outbox/slack-port.ts';
import type { Job, JobContext } from '../../../src/store/queue/define-job.ts';
import type { Schema } from '../../../src/store/schema.ts';
import { createMemoryLog } from '../engines.ts';
import { createJobTable, enqueueInto, findNextJobTime, giveBackJobs, runNextJob } from './job-table.ts';
import type { KillableProcess } from './killable-process.ts';

type Ports = ReportPorts & DeliverPorts;
const jobs: readonly Job<never, Ports>[] = [
  reportsDueJob,
  digestRunJob,
  createDeliverJob<Ports>(digestMessages),
];

interface Post {
  readonly at: number;
  readonly text: string;
}

/** Digests in one database and on one Slack that is nothing but its messages, with a clock that is set. */
export class DigestSimulation {
  readonly #db: Kysely<Schema>;
  readonly #from: number;
  readonly #ids = new Set<string>();
  readonly schedules = new Map<string, Schedule>();
  /** The posts in the channels, by `digest due`. */
  readonly posted = new Map<string, Post[]>();
  /** How runs ended, by `digest due`. */
  readonly ended = new Map<string, string>();
  at: number;
  readonly now = (): Date => new Date(this.at);

  constructor(db: Kysely<Schema>, at: number) {
    this.#db = db;
    this.at = at;
    this.#from = at;
  }

  /** Orders a digest under an id that is the same each time: the moment in which its runs start hangs on it. */
  async createDigest(id: string, schedule: Schedule): Promise<void> {
    const subject = {
      kinds: ['zones'].map(findDigestKind),
      targets: { zones: [], shieldZones: [], apps: [] },
      only: 'always',
      timeZone: schedule.zone,
    } as const;
    // A workspace each: within one, posts wait for each other, and this clock goes in minutes.
    const owner = { teamId: `T${id}`, userId: 'U0ALICE00' };
    const channel = `C${id}`;
    const { now } = this;
    const enqueue = enqueueInto(this.#db, now);
    const reports = createReports({
      db: this.#db,
      audit: createAudit({ db: this.#db, now }),
      outbox: createOutbox({ enqueue, now }),
      people: findPeople,
      now,
      enqueue,
    });
    await reports.create(owner, { channel, subject, schedule }, id);
    this.schedules.set(id, schedule);
  }

  /** Creates the queue of this world. */
  async start(): Promise<void> {
    await createJobTable(this.#db);
  }

  /** Runs what is due as one process, until it dies or nothing is due. */
  async work(context: JobContext<Ports>, by: string): Promise<void> {
    while (await runNextJob(jobs, context, by));
  }

  async giveBackJobs(by: string): Promise<void> {
    await giveBackJobs(this.#db, by);
  }

  /** What a process works with in one of its lives. */
  createContext({ db, callOutside }: KillableProcess): JobContext<Ports> {
    const slack: Pick<SlackPort, 'post' | 'find'> = {
      post: async (channel, { text }, { id }) => {
        await callOutside();
        const key = keyOf(id);
        this.posted.set(key, [...(this.posted.get(key) ?? []), { at: this.at, text }]);
        this.#ids.add(id);
        await callOutside();
        return { channel, ts: '1.000001' };
      },
      find: async (id, { channel }) => {
        await callOutside();
        return this.#ids.has(id) ? { channel, ts: '1.000001' } : undefined;
      },
    };
    const authorizer = {
      decide: async () => ({ allowed: true, reason: 'own-key', trace: [] }),
      policy: async () => initialPolicy,
    };
    const enqueue = enqueueInto(db, this.now);
    const pullZones = { all: async () => ({ zones: [], skipped: 0 }) };
    const ports = {
      slack: () => slack as SlackPort,
      accounts: {
        async open() {
          await callOutside();
          return { pullZones } as unknown as AccountReads;
        },
      },
      authorizer: () => authorizer as unknown as Authorizer,
      isSharedOutside: async () => false,
      people: findPeople,
      enqueue,
      outbox: createOutbox({ enqueue, now: this.now }),
    } as unknown as Ports;
    const { signal } = new AbortController();
    return { db, ports, log: createMemoryLog(), now: this.now, signal, attempt: 1 };
  }

  /** The moments of all runs before that one, or of some, in order, each once. */
  dueTimes(until: number, which = (_at: Date, _time: string, _zone: string): boolean => true): number[] {
    const all = [...this.schedules.values()].flatMap((schedule) =>
      this.dueTimesOf(schedule, until).filter((due) => which(new Date(due), schedule.time, schedule.zone)),
    );
    return [...new Set(all)].toSorted((a, b) => a - b);
  }

  dueTimesOf(schedule: Schedule, until: number): number[] {
    const runs = findNextRuns(schedule, new Date(this.#from), 200).map((at) => at.getTime());
    return runs.filter((at) => at < until);
  }

  findNextWakeTime(): Promise<number | undefined> {
    return findNextJobTime(this.#db);
  }

  /** Writes down how runs ended, and does what the bot does from time to time: forgets old ones and tidies up. */
  async runMaintenance(): Promise<void> {
    const rows = await this.#db
      .selectFrom('report_runs')
      .select(['report_id', 'due', 'state'])
      .where('state', 'not in', ['due', 'collecting', 'sending'])
      .execute();
    for (const { report_id: id, due, state } of rows) this.ended.set(`${id} ${due.toISOString()}`, state);
    await deleteOldRows(this.#db, this.now());
    await this.#db.deleteFrom('outbox').where('next_at', 'is', null).execute();
    await sql`vacuum report_runs, report_baselines, reports, slack_pace, outbox, test_jobs`.execute(this.#db);
  }
}

/** `digest:<id>:<due>:<attempt>`: posts of several attempts at one run are one run's. */
function keyOf(postId: string): string {
  const [, id, due] = /^digest:(\w+):(.+):\d+$/u.exec(postId) ?? [];
  return `${id} ${due}`;
}

function findPeople(): People {
  return { configuredAdmins: [] } as unknown as People;
}
