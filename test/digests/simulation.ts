import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { CdnClient } from '../../src/api/cdn.ts';
import { createAudit } from '../../src/auth/audit/audit.ts';
import type { Authorizer } from '../../src/auth/policy/authorizer.ts';
import { initialPolicy } from '../../src/auth/policy/policy.ts';
import type { DigestContext, DigestPorts } from '../../src/digests/ports.ts';
import { findNextCollectTime, findNextSendTime } from '../../src/digests/queries/claim-runs.ts';
import { insertDigest } from '../../src/digests/queries/digests.ts';
import { purgeRuns } from '../../src/digests/queries/runs.ts';
import { ownerColumns, readDigest, writeDigestBody } from '../../src/digests/row.ts';
import { findNextRuns, type Schedule } from '../../src/digests/schedule.ts';
import { createDigestService } from '../../src/digests/service.ts';
import type { Marker, SlackPort } from '../../src/outbox/slack-port.ts';
import type { Schema } from '../../src/store/schema.ts';
import { createMemoryLog } from '../support/engines.ts';
import type { KillableProcess } from './killable-process.ts';

const day = 86_400_000;

interface Post {
  readonly at: number;
  readonly text: string;
}

/** Digests in one database and on one Slack that is nothing but its messages, with a clock that is set. */
export class DigestSimulation {
  readonly #db: Kysely<Schema>;
  readonly #from: number;
  readonly schedules = new Map<string, Schedule>();
  /** What stands in the channels, by its marker: `digest due part`. */
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
      kinds: ['zones'],
      targets: { zones: [], shieldZones: [], apps: [] },
      only: 'always',
      timeZone: schedule.zone,
    } as const;
    // A workspace each: within one, posts wait for each other, and this clock goes in minutes.
    const owner = { teamId: `T${id}`, userId: 'U0ALICE00' };
    const channel = `C${id}`;
    const row = await insertDigest(this.#db, {
      id,
      ...ownerColumns(owner),
      channel,
      body: writeDigestBody({ subject, schedule, channel }),
      revision: 1,
      paused: 'new',
      failures: 0,
      made_at: this.now(),
    });
    const { now } = this;
    const audit = createAudit({ db: this.#db, now });
    const digests = createDigestService({ db: this.#db, audit, now, enqueue: async () => randomUUID() });
    if (!row || !(await digests.begin(readDigest(row), owner))) throw new Error('a digest did not begin');
    this.schedules.set(id, schedule);
  }

  /** What a process works with in one of its lives. */
  context({ db, callOutside }: KillableProcess): DigestContext {
    const slack: Pick<SlackPort, 'post' | 'find'> = {
      post: async (channel, { text }, { marker } = {}) => {
        await callOutside();
        const key = marker ? keyOf(marker) : 'without a marker';
        this.posted.set(key, [...(this.posted.get(key) ?? []), { at: this.at, text }]);
        await callOutside();
        return { channel, ts: '1.000001' };
      },
      find: async (marker, { channel }) => {
        await callOutside();
        return this.posted.has(keyOf(marker)) ? { channel, ts: '1.000001' } : undefined;
      },
    };
    const authorizer = {
      decide: async () => ({ allowed: true, reason: 'own-key', trace: [] }),
      policy: async () => initialPolicy,
    };
    const pullZones = { all: async () => ({ zones: [], skipped: 0 }) };
    const ports = {
      slack: () => slack as SlackPort,
      async cdn() {
        await callOutside();
        return { pullZones } as unknown as CdnClient;
      },
      authorizer: () => authorizer as unknown as Authorizer,
      enqueue: async () => randomUUID(),
    } as unknown as DigestPorts;
    const { signal } = new AbortController();
    return { db, ports, log: createMemoryLog(), now: this.now, signal, attempt: 1, lastAttempt: false };
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

  /** When something that was begun goes on; undefined = nothing is under way. */
  async findNextWakeTime(): Promise<number | undefined> {
    const send = await findNextSendTime(this.#db, { lostMs: 20_000, method: 'chat.postMessage' });
    const collect = await findNextCollectTime(this.#db, { lostMs: 240_000 });
    const wakes = [send, collect].flatMap((wake) => wake?.getTime() ?? []);
    return wakes.length > 0 ? Math.min(...wakes) : undefined;
  }

  /** Writes down how runs ended, and does what the bot does from time to time: forgets old ones and tidies up. */
  async runMaintenance(): Promise<void> {
    const rows = await this.#db
      .selectFrom('digest_runs')
      .select(['digest_id', 'due', 'state'])
      .where('state', 'not in', ['due', 'collecting', 'ready', 'sending'])
      .execute();
    for (const { digest_id: id, due, state } of rows) this.ended.set(`${id} ${due.toISOString()}`, state);
    await purgeRuns(this.#db, new Date(this.at - 100 * day));
    await sql`vacuum digest_runs, digest_books, digests, slack_pace`.execute(this.#db);
  }
}

function keyOf({ payload }: Marker): string {
  return `${payload['digest']} ${payload['due']} ${payload['part']}`;
}
