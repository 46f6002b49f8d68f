import { sql } from 'kysely';
import type { Person } from '../../../auth/identity.ts';
import { personKey, tenantId } from '../../../auth/identity.ts';
import { UserError } from '../../../errors.ts';
import { hourMs } from '../../../lib/time.ts';
import type { Db } from '../../../store/schema.ts';
import type { Log } from '../../../telemetry/log.ts';

/**
 * Requests that jobs send for one account in an hour. The service publishes no limit: this is one every three seconds,
 * enough to look at 25 logs and a list of 50 pages every five minutes, and leaves room for what people ask.
 */
export const requestsPerHour = 1_200;

/** Jobs have sent what they may for this account: the read is made later. */
export class BudgetSpent extends UserError {
  readonly resetsAt: Date;

  constructor(resetsAt: Date) {
    super(
      'Digests and alerts have sent as many requests for this account as they may in an hour.',
      'They go on with the next hour.',
    );
    this.resetsAt = resetsAt;
  }
}

export interface BudgetState {
  readonly used: number;
  readonly limit: number;
  readonly resetsAt: Date;
}

/** How much jobs have read for a person in the hour of `now`; up to `flushMs` behind. */
export async function describeBudget(db: Db, person: Person, now: Date): Promise<BudgetState> {
  const used = await readUsed(db, person, startOfHour(now));
  return { used, limit: requestsPerHour, resetsAt: endOfHour(now) };
}

/** How long counts wait in memory: a killed process loses that much. */
const flushMs = 5_000;

interface Meter {
  readonly person: Person;
  readonly hour: Date;
  /** As stored, of all processes, when this process last looked. */
  stored: number;
  /** Not stored yet. */
  pending: number;
}

/** Counts the requests of all accounts, and stores the counts of many requests in one statement. */
export function createBudgets({ db, now, log }: { db: Db; now: () => Date; log: Log }) {
  const meters = new Map<string, Meter>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const counted = [...meters.values()].filter(({ pending }) => pending > 0);
    const rows = counted.map(({ person, hour, pending }) => ({
      tenant: tenantId(person),
      user_id: person.userId,
      hour,
      requests: pending,
    }));
    for (const meter of counted) {
      meter.stored += meter.pending;
      meter.pending = 0;
    }
    const current = startOfHour(now()).getTime();
    for (const [key, { hour }] of meters) if (hour.getTime() < current) meters.delete(key);
    if (rows.length === 0) return flushing;
    flushing = flushing
      .then(() => addRequests(db, rows))
      .catch((error: unknown) => log.warn({ error }, 'cannot store how many requests jobs have sent'));
    return flushing;
  };

  return {
    /** The account's meter for one job: call it before each request. @throws BudgetSpent */
    async open(person: Person): Promise<() => void> {
      const find = (): Meter => {
        const hour = startOfHour(now());
        const key = `${personKey(person)} ${hour.getTime()}`;
        const known = meters.get(key);
        if (known) return known;
        const meter = { person, hour, stored: 0, pending: 0 };
        meters.set(key, meter);
        return meter;
      };
      const meter = find();
      const used = await readUsed(db, person, meter.hour);
      // What is being stored now may be in it or not: the larger is nearer.
      meter.stored = Math.max(meter.stored, used);
      return () => {
        const meter = find();
        if (meter.stored + meter.pending >= requestsPerHour) throw new BudgetSpent(endOfHour(meter.hour));
        meter.pending += 1;
        timer ??= setTimeout(() => void flush(), flushMs).unref();
      };
    },
    /** Stores what is counted. */
    flush,
  };
}

function startOfHour(at: Date): Date {
  return new Date(Math.floor(at.getTime() / hourMs) * hourMs);
}

function endOfHour(at: Date): Date {
  return new Date(startOfHour(at).getTime() + hourMs);
}

async function readUsed(db: Db, person: Person, hour: Date): Promise<number> {
  const row = await db
    .selectFrom('read_budgets')
    .select('requests')
    .where((is) => is.and({ tenant: tenantId(person), user_id: person.userId, hour }))
    .executeTakeFirst();
  return row?.requests ?? 0;
}

type BudgetRow = { tenant: string; user_id: string; hour: Date; requests: number };

async function addRequests(db: Db, rows: readonly BudgetRow[]): Promise<void> {
  // In one order, so that two processes do not wait for each other's rows.
  const ordered = rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  await db
    .insertInto('read_budgets')
    .values(ordered)
    .onConflict((conflict) =>
      conflict
        .columns(['tenant', 'user_id', 'hour'])
        .doUpdateSet({ requests: sql`read_budgets.requests + excluded.requests` }),
    )
    .execute();
}

function keyOf({ tenant, user_id, hour }: BudgetRow): string {
  return `${tenant} ${user_id} ${hour.getTime()}`;
}
