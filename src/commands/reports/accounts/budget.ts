import { sql } from 'kysely';
import { type Person, tenantId } from '../../../auth/identity.ts';
import { UserError } from '../../../errors.ts';
import { hourMs } from '../../../lib/time.ts';
import type { Db } from '../../../store/schema.ts';
import { formatInteger, formatUtc } from '../../../views/blocks/format.ts';
import type { Budget } from '../../../views/reports/words.ts';

/**
 * Requests that jobs send for one account in an hour. The service publishes no limit: this is one every three seconds,
 * enough to read 25 logs and a list of 50 pages every five minutes, and leaves room for what people ask.
 */
export const requestsPerHour = 1_200;

export class BudgetSpent extends UserError {
  readonly resetsAt: Date;

  constructor(resetsAt: Date) {
    super(
      `Alerts and digests have used all ${formatInteger(requestsPerHour)} background requests of this account this hour. Checks go on at ${formatUtc(resetsAt).slice(11)}.`,
    );
    this.resetsAt = resetsAt;
  }
}

/** How much jobs of all processes have read for a person in the hour of `now`. */
export async function describeBudget(db: Db, person: Person, now: Date): Promise<Budget> {
  const row = await db
    .selectFrom('read_budgets')
    .select('requests')
    .where((is) => is.and(keyOf(person, now)))
    .executeTakeFirst();
  return { used: row?.requests ?? 0, limit: requestsPerHour, resetsAt: endOfHour(now) };
}

/** Counts one request before it is sent. @throws BudgetSpent */
export async function countRequest(db: Db, person: Person, now: Date): Promise<void> {
  const counted = await db
    .insertInto('read_budgets')
    .values({ ...keyOf(person, now), requests: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant', 'user_id', 'hour'])
        .doUpdateSet({ requests: sql`read_budgets.requests + 1` })
        .where('read_budgets.requests', '<', requestsPerHour),
    )
    .returning('requests')
    .executeTakeFirst();
  if (!counted) throw new BudgetSpent(endOfHour(now));
}

function keyOf(person: Person, now: Date) {
  const hour = new Date(endOfHour(now).getTime() - hourMs);
  return { tenant: tenantId(person), user_id: person.userId, hour };
}

function endOfHour(at: Date): Date {
  return new Date((Math.floor(at.getTime() / hourMs) + 1) * hourMs);
}
