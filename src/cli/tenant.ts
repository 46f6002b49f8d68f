import { readStoreConfig } from '../app/config.ts';
import { createAudit, deployment, findRecentAudit } from '../auth/audit/audit.ts';
import { UserError } from '../errors.ts';
import { assertCurrentSchema, type Database } from '../store/database.ts';
import type { Db, Trx } from '../store/schema.ts';
import { countTenantRows, eraseTenant, exportTenant, findTenants } from '../store/tenant.ts';
import { formatCount, formatInteger, pluralize } from '../views/blocks/format.ts';
import { type Command, describeUsage, parseWords, type Terminal, withDatabase } from './terminal.ts';

/** `npm run tenant`: lists, exports or erases workspaces. @throws UserError, with what is erased already */
export const tenantCommand: Command = async (words, terminal) => {
  const { env, log, print } = terminal;
  const { positionals, values } = parseWords('tenant', words, { yes: { type: 'string' } }, true);
  const [verb, tenant, file, ...more] = positionals;
  const arity = { list: 1, export: 3, erase: 2 }[verb ?? ''];
  if (arity !== positionals.length || more.length > 0)
    throw new UserError('Say what to do, and with what.', describeUsage('tenant'));
  const config = readStoreConfig(env, { needsKeyring: false });
  return withDatabase(config, log, 'stop the bot, run the same command again, start it', async (database) => {
    await assertCurrentSchema(database.db);
    if (tenant === undefined) await list(database.db, print);
    else {
      const counts = await findRows(database.db, tenant);
      if (file !== undefined) await exportTo(database, tenant, file, print);
      else await erase(database, tenant, counts, { ...terminal, ...values });
    }
    return true;
  });
};

async function list(db: Db, print: Terminal['print']): Promise<void> {
  const tenants = await findTenants(db);
  const installed = await db.selectFrom('installations').select(['tenant', 'installed_at']).execute();
  const since = new Map(installed.map((row) => [row.tenant, row.installed_at.toISOString()]));
  for (const tenant of tenants.filter((one) => one !== deployment)) {
    const at = since.get(tenant);
    const state = at === undefined ? 'no installation stored' : `installed ${at}`;
    print(`${tenant}  ${state}, ${describeContent(await countTenantRows(db, tenant))}`);
  }
  if (tenants.length === 0) print('The database holds no data of any workspace.');
}

function describeContent(counts: ReadonlyMap<string, number>): string {
  const keys = pluralize(counts.get('linked_keys') ?? 0, 'linked key');
  return `${keys}, ${pluralize(counts.get('audit_records') ?? 0, 'audit record')}`;
}

function describe(counts: ReadonlyMap<string, number>): string {
  const rows = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return `${pluralize(rows, 'row')} in ${formatCount(counts.size, 'table')}: ${describeContent(counts)}`;
}

async function findRows(db: Db, tenant: string): Promise<ReadonlyMap<string, number>> {
  const isTenant = /^[TE][A-Z0-9]+$/.test(tenant);
  const counts = await countTenantRows(db, tenant);
  if (isTenant && counts.size > 0) return counts;
  throw new UserError(
    `The database holds no data of a workspace or organization ${tenant}.`,
    'npm run tenant -- list lists the ones it knows.',
  );
}

async function exportTo(database: Database, tenant: string, file: string, print: Terminal['print']) {
  const counts = await exportTenant(database, tenant, file);
  print(`Exported ${describe(counts)}.`);
  print(`${file} holds personal data, but no key or token: it only says that they are stored.`);
  print(`It does not include ${keptBySlack}.`);
}

const keptBySlack =
  'what Slack keeps: the messages and files that the bot posted, its conversations with people, and what Slack logs of the app';

async function erase(
  database: Database,
  tenant: string,
  counts: ReadonlyMap<string, number>,
  { print, now, yes }: Terminal & { readonly yes?: string | undefined },
): Promise<void> {
  const { db } = database;
  if (yes !== tenant) {
    throw new UserError(
      `This erases ${describe(counts)} of ${tenant}. It cannot be undone.`,
      `Export first if somebody needs it. To erase, add --yes ${tenant}`,
    );
  }
  const installation = db.selectFrom('installations').select('tenant').where('tenant', '=', tenant);
  if (await installation.executeTakeFirst())
    throw new UserError(
      `The app is still installed in ${tenant}: people would keep writing new rows.`,
      'Have an admin remove it there (Manage apps); the bot notices within seconds.',
    );
  const audit = createAudit({ db, now });
  const findLast = async (trx: Trx) => (await findRecentAudit(trx, tenant, 1))[0];
  const erased = await eraseTenant(db, tenant, findLast, (trx, all, last) => {
    const rows = [...all.values()].reduce((sum, count) => sum + count, 0);
    const detail = { rows, records: last?.seq ?? 0, head: last?.hash };
    const about = { tenant: deployment, actor: 'system', subject: tenant };
    return audit.record({ ...about, event: 'tenant-erased', detail }, trx);
  });
  for (const [table, rows] of erased) print(`  ${table}: ${formatInteger(rows)}`);
  print(`Erased ${describe(erased)}. Keys and tokens went first.`);
  print(
    `What remains: a record in the audit of “${deployment}” with this ID, the counts, and the last hash of its record.`,
  );
  print(`Not reached: ${keptBySlack}; your backups and logs until they expire.`);
  const left = await countTenantRows(db, tenant);
  if (left.size > 0)
    print(
      'The bot is running, and work under way may still write a row. Run the same command again in a minute.',
    );
}
