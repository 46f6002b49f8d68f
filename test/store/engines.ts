import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { Log } from '../../src/log.ts';
import type { Secret } from '../../src/secret.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { startPostgres } from './postgres.ts';

export interface Entry {
  readonly level: keyof Log;
  readonly fields: object;
  readonly message: string;
}

/** A log that is kept instead of written. */
export function keptLog(): Log & { readonly entries: Entry[] } {
  const entries: Entry[] = [];
  const at =
    (level: keyof Log) =>
    (fields: object, message: string): void => {
      entries.push({ level, fields, message });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), entries };
}

export interface Place {
  readonly dataDir: string;
  readonly databaseUrl: Secret | undefined;
  /** Opens the same database, migrated; all that are still open are closed when the tests of the file end. */
  open(log?: Log): Promise<Database>;
}

export interface EngineUnderTest {
  readonly name: string;
  readonly skip: boolean;
  /** An empty place for a database. */
  readonly place: () => Promise<Place>;
}

/**
 * The engines that the tests of a file run on: the embedded one always, PostgreSQL where there is one.
 * To be called once, at the top of the file.
 */
export async function enginesUnderTest(): Promise<EngineUnderTest[]> {
  const opened: Database[] = [];
  const directories: string[] = [];
  const server = await startPostgres();

  const directory = async (): Promise<string> => {
    const made = await mkdtemp(join(tmpdir(), 'chatops-test-'));
    directories.push(made);
    return made;
  };
  const placeAt = (dataDir: string, databaseUrl: Secret | undefined): Place => ({
    dataDir,
    databaseUrl,
    async open(log = keptLog()) {
      const database = await openDatabase({ databaseUrl, dataDir, log });
      opened.push(database);
      await database.migrate();
      return database;
    },
  });
  afterAll(async () => {
    for (const database of opened) await database.close();
    if (typeof server !== 'string') await server.stop();
    for (const made of directories) await rm(made, { recursive: true, force: true });
  });

  // Making an embedded database takes seconds, copying one does not.
  let template: Promise<string> | undefined;
  const makeTemplate = async (): Promise<string> => {
    const dataDir = await directory();
    const database = await openDatabase({ dataDir, log: keptLog() });
    await database.migrate();
    await database.close();
    return dataDir;
  };
  return [
    {
      name: 'embedded',
      skip: false,
      place: async () => {
        template ??= makeTemplate();
        const dataDir = await directory();
        await cp(await template, dataDir, { recursive: true });
        return placeAt(dataDir, undefined);
      },
    },
    {
      name: typeof server === 'string' ? `PostgreSQL (skipped: ${server})` : 'PostgreSQL',
      skip: typeof server === 'string',
      place: async () => {
        if (typeof server === 'string') throw new Error(server);
        return placeAt(await directory(), await server.createDatabase());
      },
    },
  ];
}
