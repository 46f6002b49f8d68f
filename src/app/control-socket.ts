import { once } from 'node:events';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { z } from 'zod';
import { UserError } from '../errors.ts';
import type { Log } from '../telemetry/log.ts';
import type { StoreConfig } from './config.ts';

// The embedded database serves one process. While it runs, commands of an operator are sent to it over a socket in a
// directory that only its own user may enter.

/** Runs the words of a command; `print` writes a line in the operator's terminal. */
export type RunCommand = (words: readonly string[], print: (line: string) => void) => Promise<void>;

const commandWords = z
  .tuple([z.enum(['keys', 'doctor'])], z.string().max(200))
  .refine((words) => words.length <= 10);

/** A command by its first word. */
type Commands = Readonly<Record<z.output<typeof commandWords>[0], RunCommand>>;

/** One line of an answer: printed, or the last. */
const answer = z.union([
  z.object({ line: z.string() }),
  z.object({ refused: z.string(), hint: z.string().optional() }),
  z.object({ done: z.literal(true) }),
]);

/** The socket of the process that uses the embedded database; undefined where there can be none. */
function controlPath({ databaseUrl, dataDir }: StoreConfig['store']): string | undefined {
  const path = join(dataDir, 'control', 'socket');
  // The system cuts longer names off silently.
  const isPossible = process.platform !== 'win32' && Buffer.byteLength(path) <= 100;
  return isPossible && !databaseUrl ? path : undefined;
}

/**
 * Listens until the returned function is called: for the one process that holds the data directory. Where it cannot, that
 * is logged and the bot runs without.
 */
export async function serveControl(
  store: StoreConfig['store'],
  commands: Commands,
  log: Log,
): Promise<() => Promise<void>> {
  const path = controlPath(store);
  try {
    if (path !== undefined) return await listen(path, commands, log);
  } catch (error) {
    // Some file systems have no sockets.
    log.warn({ error }, 'operators cannot reach this process: stop it for “npm run keys”');
  }
  return async () => undefined;
}

async function listen(path: string, commands: Commands, log: Log): Promise<() => Promise<void>> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await chmod(dirname(path), 0o700);
  // Left over from a process that was killed.
  await rm(path, { force: true });
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing, commands, log));
  server.listen(path).unref();
  await once(server, 'listening');
  return async () => {
    const closed = promisify(server.close.bind(server))();
    server.closeAllConnections();
    await closed;
  };
}

/** Never rejects: a failure is logged and reported to the operator. */
async function serve(incoming: IncomingMessage, outgoing: ServerResponse, commands: Commands, log: Log) {
  const say = (value: z.input<typeof answer>): void => void outgoing.write(`${JSON.stringify(value)}\n`);
  try {
    const [command, ...words] = commandWords.parse(await json(incoming));
    await commands[command](words, (line) => say({ line }));
    say({ done: true });
  } catch (error) {
    if (error instanceof UserError) say({ refused: error.message, hint: error.hint });
    else {
      log.error({ error }, 'operator command failed');
      say({ refused: 'It failed; the log of the running bot says why.' });
    }
  }
  outgoing.end();
}

/**
 * Sends a command to the bot that runs on this embedded database; false = none listens.
 *
 * @throws UserError with that process's message, where it refuses.
 */
export async function requestControl(
  store: StoreConfig['store'],
  words: readonly [keyof Commands, ...string[]],
  print: (line: string) => void,
): Promise<boolean> {
  const path = controlPath(store);
  if (path === undefined) return false;
  const asking = request({ socketPath: path, method: 'POST', path: '/', agent: false }).end(
    JSON.stringify(words),
  );
  try {
    const [incoming] = (await once(asking, 'response')) as [IncomingMessage];
    for await (const line of createInterface(incoming)) {
      const said = answer.parse(JSON.parse(line));
      if ('line' in said) print(said.line);
      else if ('refused' in said) throw new UserError(said.refused, said.hint);
      else return true;
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return false;
    // Its answer is cut off within a line, or the connection is.
    if (!(error instanceof SyntaxError) && code !== 'ECONNRESET' && code !== 'EPIPE') throw error;
  }
  throw new UserError('The running bot ended before it was done.', 'Start it, and type the same again.');
}
