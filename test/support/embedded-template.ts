import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../src/store/database.ts';
import { createLogger } from '../../src/telemetry/log.ts';

/**
 * Puts an empty, migrated embedded database into this directory. Making one takes seconds, copying one does not, so
 * one is kept among the machine's temporary files, under a name that changes with whatever it is made from.
 */
export async function copyEmbeddedDatabase(dataDir: string): Promise<void> {
  template ??= findTemplate();
  await cp(await template, dataDir, { recursive: true });
}

let template: Promise<string> | undefined;

async function findTemplate(): Promise<string> {
  const steps = await readdir(new URL('../../src/store/schema/', import.meta.url));
  const sources = [
    ...steps.toSorted().map((step) => `../../src/store/schema/${step}`),
    '../../src/store/schema.ts',
    '../../src/store/embedded.ts',
    '../../package-lock.json',
  ];
  const hash = createHash('sha256').update(String(process.getuid?.()));
  for (const source of sources) hash.update(await readFile(new URL(source, import.meta.url)));
  const path = join(tmpdir(), `chatops-template-${hash.digest('hex').slice(0, 16)}`);
  if (await stat(path).catch(() => undefined)) return path;
  const unfinished = await mkdtemp(`${path}-`);
  const database = await openDatabase({ dataDir: unfinished, log: createLogger('silent') });
  await database.migrate();
  await database.close();
  // Several test files may get here at once; one of them gives the name, any of them will do.
  await rename(unfinished, path).catch(() => rm(unfinished, { recursive: true, force: true }));
  return path;
}
