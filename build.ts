import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { rolldown } from 'rolldown';

const root = import.meta.dirname;
const made = join(root, 'dist');

/**
 * Makes what runs from `dist`, unless nothing changed that it is made from: `bot`, the program and its packages in few files,
 * since loading 1,800 is most of a start; and `database`, an empty database, which the first start copies.
 */
export async function build(): Promise<void> {
  await make('bot', ['src/**/*.ts', 'build.ts', 'package.json', 'package-lock.json'], bundle);
  await make('database', ['build.ts', 'package-lock.json'], createDatabase);
}

/** What a process that is killed left unfinished is never taken for the whole. */
async function make(
  name: string,
  patterns: readonly string[],
  into: (directory: string) => Promise<void>,
): Promise<void> {
  const hash = createHash('sha256');
  for (const path of globSync(patterns, { cwd: root }).sort())
    hash.update(path).update(await readFile(join(root, path)));
  const digest = hash.digest('hex');
  const [directory, record] = [join(made, name), join(made, `${name}.sha256`)];
  if ((await readFile(record, 'utf8').catch(() => '')) === digest) return;
  const unfinished = join(made, `${name}.${process.pid}`);
  await mkdir(unfinished, { recursive: true });
  await into(unfinished);
  await rm(record, { force: true });
  await rm(directory, { recursive: true, force: true });
  await rename(unfinished, directory);
  await writeFile(record, digest);
}

async function bundle(directory: string): Promise<void> {
  const program = await rolldown({
    cwd: root,
    // The program, and what it starts threads with.
    input: {
      main: 'src/main.ts',
      thread: 'src/store/embedded/thread.ts',
      worker: 'src/commands/exports/worker/worker.ts',
    },
    platform: 'node',
    // The engine has files of its own. The rest is optional for its packages.
    external: ['@electric-sql/pglite', 'pg-native', 'bufferutil', 'utf-8-validate'],
  });
  const { output } = await program.generate({ format: 'esm', keepNames: true, comments: false });
  await program.close();
  for (const file of output)
    if (file.type === 'chunk') await writeFile(join(directory, file.fileName), file.code);
}

async function createDatabase(directory: string): Promise<void> {
  const engine = await PGlite.create(directory, {
    // By default it takes 128 MB of buffers.
    initDbStartParams: ['--set', 'shared_buffers=8MB'],
    startParams: [...PGlite.defaultStartParams, '-c', 'shared_buffers=8MB'],
  });
  // It uses neither of its own templates, and they are more than half of the files.
  await engine.exec('update pg_database set datistemplate = false');
  for (const name of ['template0', 'template1']) await engine.exec(`drop database ${name}`);
  await engine.close();
  // Nothing in it is secret, and who runs the bot need not be who built it.
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true }))
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
}

if (import.meta.main) await build();
