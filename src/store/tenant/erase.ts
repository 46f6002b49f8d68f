import { sql } from 'kysely';
import { UserError } from '../../errors.ts';
import { tableRef } from '../move/tables.ts';
import type { Db, Trx } from '../schema.ts';
import { findTenantTables, type TenantTable } from './tables.ts';

/** How many rows went, by table. */
type Erased = ReadonlyMap<string, number>;

/**
 * Deletes every row of a tenant. First, in a transaction of its own, what is sealed and the ways to link a key: whatever
 * happens then, its secrets are gone. `before` and `after` run in the transaction of the rest, around it. Repeating all is
 * harmless.
 *
 * @throws UserError where the running bot has locked the same rows, or the user does not own the tables.
 */
export async function eraseTenant<T>(
  db: Db,
  tenant: string,
  before: (trx: Trx) => Promise<T>,
  after: (trx: Trx, erased: Erased, found: T) => Promise<void>,
): Promise<Erased> {
  const tables = (await findTenantTables(db)).reverse();
  const erased = new Map<string, number>();
  const deleteFrom = async (trx: Trx, some: readonly TenantTable[]): Promise<void> => {
    for (const table of some) {
      const { numAffectedRows = 0n } = await sql`
        delete from ${tableRef(table)} where ${table.of(tenant)}`.execute(trx);
      if (numAffectedRows > 0n)
        erased.set(table.name, (erased.get(table.name) ?? 0) + Number(numAffectedRows));
    }
  };
  const run = (work: (trx: Trx) => Promise<void>, soFar: string): Promise<void> =>
    db
      .transaction()
      .execute(async (trx) => {
        await sql`set local statement_timeout = 0`.execute(trx);
        await sql`set local lock_timeout = '30s'`.execute(trx);
        await work(trx);
      })
      .catch((error: unknown) => explainRefusal(error, soFar));

  await run((trx) => deleteFrom(trx, tables.filter(isSecret)), 'Nothing is erased.');
  const late = findLate(tables);
  await run(async (trx) => {
    await deleteFrom(
      trx,
      tables.filter((table) => !late.has(table)),
    );
    // The triggers keep the bot from changing these tables. Their owner sets them aside until the commit. Locked last,
    // as the bot does, so that neither waits for the other.
    const guarded = tables.filter(({ isGuarded }) => isGuarded);
    for (const table of guarded) await sql`alter table ${tableRef(table)} disable trigger user`.execute(trx);
    const found = await before(trx);
    await deleteFrom(trx, [...late]);
    for (const table of guarded) await sql`alter table ${tableRef(table)} enable trigger user`.execute(trx);
    await after(trx, erased, found);
  }, 'Keys and tokens are erased.');
  return erased;
}

function isSecret({ columns }: TenantTable): boolean {
  return columns.some(([name]) => name === 'sealed' || name === 'token_hash');
}

/** Tables that triggers guard, and those that such a one refers to. Children come first. */
function findLate(tables: readonly TenantTable[]): Set<TenantTable> {
  const late = new Set<TenantTable>();
  for (const table of tables) {
    const isParent = [...late].some(({ parents }) => parents.some((parent) => parent.table === table.name));
    if (table.isGuarded || isParent) late.add(table);
  }
  return late;
}

// deadlock_detected, lock_not_available, insufficient_privilege
const refusals: Readonly<Record<string, readonly [problem: string, nextStep: string]>> = {
  '40P01': ['The running bot is using these rows just now.', 'Type the same again in a moment.'],
  '55P03': ['The running bot is using these tables just now.', 'Type the same again in a moment.'],
  '42501': [
    'The user of DATABASE_URL does not own the tables, so it cannot set their triggers aside.',
    'Type the same with the user that runs npm run migrate.',
  ],
};

function explainRefusal(error: unknown, soFar: string): never {
  const [problem, nextStep] = refusals[String((error as { code?: unknown }).code)] ?? [];
  throw problem === undefined ? error : new UserError(`${problem} ${soFar}`, nextStep);
}
