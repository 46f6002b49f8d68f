import { sql } from 'kysely';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import type { Database } from '../../../src/store/database.ts';

export const acme = 'T0ACME000';
export const beta = 'T0BETA000';
/** How the record refuses a secret. */
export const looksSecret = /looks like a key or token/;

/** What only somebody can do who owns the table: past its triggers. */
export async function runWithoutTriggers({ db }: Database, statements: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`alter table audit_records disable trigger user`.execute(trx);
    for (const statement of statements.split(';')) await sql.raw(statement).execute(trx);
    await sql`alter table audit_records enable trigger user`.execute(trx);
  });
}

/** Records in one transaction: quick. */
export async function insertRecords({ db }: Database, count: number, tenant = acme): Promise<void> {
  const audit = createAudit({ db, now: () => new Date('2026-11-21T08:00:00.123Z') });
  await db.transaction().execute(async (trx) => {
    for (let n = 1; n <= count; n += 1) {
      const detail = { fingerprint: `f${n}`, replaced: n % 2 === 0 };
      await audit.record({ tenant, actor: `U${n}`, event: 'key-linked', subject: `U${n}`, detail }, trx);
    }
  });
}
