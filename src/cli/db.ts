import { readStoreConfig, type StoreConfig } from '../app/config.ts';
import { jobs } from '../app/jobs.ts';
import { keyringSource, sealedTables } from '../app/keyring-service.ts';
import { verifyChains } from '../auth/audit/audit.ts';
import { readKeyring } from '../auth/keyring/keyring.ts';
import { checkKeyring } from '../auth/keyring/rewrap.ts';
import { UserError } from '../errors.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { exportDatabase, importDatabase, type Moved } from '../store/move.ts';
import { createQueue } from '../store/queue.ts';
import { formatCount, pluralize } from '../views/blocks/format.ts';
import { type Command, describeUsage, parseWords, type Terminal, withDatabase } from './terminal.ts';

/** `npm run db`. False where all was imported, but the audit is not intact or rows do not open. @throws UserError */
export const dbCommand: Command = async (words, terminal) => {
  const [verb, file, ...more] = parseWords('db', words, {}, true).positionals;
  if (file === undefined || more.length > 0)
    throw new UserError('Say what to do, and with which file.', describeUsage('db'));
  const config = readStoreConfig(terminal.env, { needsKeyring: false });
  if (verb === 'export') return exportTo(file, config, terminal);
  if (verb === 'import') return importFrom(file, config, terminal);
  throw new UserError(`Unknown command “${verb}”.`, describeUsage('db'));
};

function exportTo(file: string, config: StoreConfig, { log, print }: Terminal): Promise<boolean> {
  return withDatabase(config, log, 'stop the bot, export, start it again', async (database) => {
    const moved = await exportDatabase(database, file);
    print(`Exported ${describe(moved)}.`);
    print(
      `${file} holds personal data and sealed keys: protect it like the database, and keep it apart from the keyring.`,
    );
    if (database.engine === 'postgres')
      print('Running processes keep writing to the old database. To move, stop them first and export again.');
    return true;
  });
}

async function importFrom(file: string, config: StoreConfig, { log, print }: Terminal): Promise<boolean> {
  const database = await openDatabase({ ...config.store, log, isPatient: true });
  try {
    const moved = await importDatabase(database, file, log);
    print(`Imported ${describe(moved)}.`);
    const isWhole = await checkAudit(database, print);
    return (await checkSealed(database, config, print)) && isWhole;
  } finally {
    await database.close();
  }
}

function describe({ tables, rows, made, engine, bot }: Moved): string {
  const source = engine === 'embedded' ? 'an embedded database' : 'PostgreSQL';
  return `${formatCount(rows, 'row')} of ${formatCount(tables, 'table')} (${source}, version ${bot}, as of ${made})`;
}

async function checkAudit({ db }: Database, print: Terminal['print']): Promise<boolean> {
  const verdicts = [...(await verifyChains(db, {}))];
  const broken = verdicts.filter(([, { ok }]) => !ok).map(([tenant]) => tenant);
  if (broken.length === 0) print(`The audit is intact: ${pluralize(verdicts.length, 'chain')}.`);
  else {
    print(`The audit is NOT intact, as it was before: ${broken.join(', ')}.`);
    print('npm run audit:verify names the first wrong record of each.');
  }
  return broken.length === 0;
}

async function checkSealed(
  { db }: Database,
  config: StoreConfig,
  print: Terminal['print'],
): Promise<boolean> {
  const sealed = await db.selectFrom('sealed_versions').select('kind').limit(1).execute();
  if (sealed.length === 0) return true;
  try {
    const { keyring } = await readKeyring({ ...keyringSource(config), inUse: true });
    await checkKeyring(db, keyring, sealedTables);
    print('The keyring opens the sealed rows.');
    return true;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    print(`The sealed rows do NOT open: ${error.message}`);
    print('Use the keyring of the other database, then run: npm run keys -- status');
    return false;
  }
}

/** `npm run migrate`: makes all that a start needs, so that the bot may run as a user who may not. @throws UserError */
export const migrateCommand: Command = async (_words, { env, log }) => {
  const { store } = readStoreConfig(env);
  const database = await openDatabase({ ...store, log });
  try {
    await database.migrate();
    const queue = createQueue({ database, log, now: () => new Date() });
    // Nothing runs here, so no job reaches for its ports.
    await queue.start({ jobs, ports: {} as never, work: false });
    await queue.stop();
    log.info({ store: database.engine }, 'database is up to date');
    return true;
  } finally {
    await database.close();
  }
};
