import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll } from 'vitest';
import type { Secret } from '../../src/secrets/secret.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import type { Log } from '../../src/telemetry/log.ts';
import { copyEmbeddedDatabase } from './database-templates.ts';
import { findPostgres, type PostgresServer } from './postgres.ts';

interface Entry {
  readonly level: keyof Log;
  readonly fields: object;
  readonly message: string;
}

/** A log that is kept instead of written. */
export function createMemoryLog(): Log & { readonly entries: Entry[] } {
  const entries: Entry[] = [];
  const at =
    (level: keyof Log) =>
    (fields: object, message: string): void => {
      entries.push({ level, fields, message });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), entries };
}

interface DatabaseLocation {
  readonly dataDir: string;
  readonly databaseUrl: Secret | undefined;
  /** Opens the same database, migrated, once more. */
  readonly open: () => Promise<Database>;
}

interface Engine {
  readonly name: string;
  readonly skip: boolean;
  /** A location with a database of its own, for tests that close it or open it twice. `empty`: without tables. */
  readonly createLocation: (options?: { readonly empty?: boolean }) => Promise<DatabaseLocation>;
  /** One open database for all tests of the file, emptied each time. */
  readonly emptyDatabase: () => Promise<Database>;
}

interface Engines {
  readonly embedded: Engine;
  readonly postgres: Engine & { readonly server: () => Promise<PostgresServer> };
  readonly both: readonly Engine[];
}

/**
 * The engines that the tests of a file run on: the embedded one always, PostgreSQL where there is one. To be called
 * once, at the top of the file; what was opened is closed when its tests have ended.
 */
export async function prepareEngines(): Promise<Engines> {
  const root = await mkdtemp(join(tmpdir(), 'chatops-test-'));
  const found = await findPostgres();
  let server: Promise<PostgresServer> | undefined;
  const opened: Database[] = [];
  afterAll(async () => {
    for (const database of opened) await database.close();
    await (await server)?.stop();
    await rm(root, { recursive: true, force: true });
  });

  const engine = (
    name: string,
    skip: boolean,
    prepare: (dataDir: string, empty: boolean) => Promise<Secret | undefined>,
  ) => {
    const createLocation = async ({ empty = false } = {}): Promise<DatabaseLocation> => {
      const dataDir = await mkdtemp(join(root, 'data-'));
      const databaseUrl = await prepare(dataDir, empty);
      const open = async (): Promise<Database> => {
        const database = await openDatabase({ databaseUrl, dataDir, log: createMemoryLog() });
        opened.push(database);
        await database.migrate();
        return database;
      };
      return { dataDir, databaseUrl, open };
    };
    let shared: Promise<Database> | undefined;
    const emptyDatabase = async (): Promise<Database> => {
      shared ??= createLocation().then(({ open }) => open());
      const database = await shared;
      await deleteRows(database);
      return database;
    };
    return { name, skip, createLocation, emptyDatabase };
  };

  const embedded = engine('embedded', false, async (dataDir, empty) => {
    if (!empty) await copyEmbeddedDatabase(dataDir);
    return undefined;
  });
  const start = (): Promise<PostgresServer> => {
    if (typeof found === 'string') throw new Error(found);
    server ??= found.start();
    return server;
  };
  const skipped = typeof found === 'string';
  const name = skipped ? `PostgreSQL (skipped: ${found})` : 'PostgreSQL';
  const postgres = engine(name, skipped, async (_, empty) => (await start()).createDatabase({ empty }));
  return { embedded, postgres: { ...postgres, server: start }, both: [embedded, postgres] };
}

/** Deletes all rows, those of the queue too, also from append-only tables, which the bot itself cannot do. */
export async function deleteRows({ db }: Database): Promise<void> {
  await sql`
    do $$
      declare name text;
      begin
        set local session_replication_role = replica;
        for name in
          select format('%I.%I', schemaname, tablename) from pg_tables
          where schemaname in ('public', 'pgboss') and tablename not like 'kysely%' and tablename <> 'version'
        loop
          execute 'delete from ' || name;
        end loop;
      end
    $$`.execute(db);
}
