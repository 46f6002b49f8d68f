import { once } from 'node:events';
import { extname } from 'node:path';
import { Duplex } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { Answer, Request } from './thread.ts';

export interface DatabaseThread {
  /** A connection for the driver, in place of a socket. */
  connect(): Duplex;
  /** Writes a copy of the whole database to this path. Nothing may be under way meanwhile. */
  dump(path: string): Promise<void>;
  close(): Promise<void>;
}

// The engine's memory is WebAssembly's and does not count; what it answers passes through this heap.
const resourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 8 };

/**
 * WebAssembly is compiled by V8's baseline compiler alone. The optimizing one takes 600 MB for some seconds after each start
 * and makes the bot's small statements no faster: they are over before it is done.
 */
const baselineOnly = ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];

/** Opens the database in a separate thread. `onEnd` is called when the thread ends without being asked to. */
export async function startDatabaseThread(
  directory: string,
  onEnd: (error: Error) => void,
): Promise<DatabaseThread> {
  for (const flag of baselineOnly) setFlagsFromString(flag);
  const worker = new Worker(new URL(`thread${extname(import.meta.filename)}`, import.meta.url), {
    workerData: directory,
    // It needs nothing of this process's environment, which holds tokens.
    env: {},
    resourceLimits,
  });
  const post = (request: Request, transfer: readonly MessagePort[] = []): void =>
    worker.postMessage(request, transfer);
  const exit = once(worker, 'exit');
  const ended = exit.then((): never => {
    throw new Error('the thread of the embedded database ended');
  });
  const answer = async (): Promise<void> => {
    const [said] = (await Promise.race([once(worker, 'message'), ended])) as [Answer];
    if (said !== 'done') throw Object.assign(new Error(said.failed), { code: said.code });
  };
  const open = new Set<Duplex>();
  let failure: Error | undefined;
  await answer();

  const end = (error: Error): void => {
    if (failure) return;
    failure = error;
    for (const stream of open) stream.destroy(error);
    onEnd(error);
  };
  worker.on('error', end);
  ended.catch(end);

  return {
    connect() {
      const { port1, port2 } = new MessageChannel();
      const stream = new Connection(port1);
      if (failure) return stream.destroy(failure);
      post({ connection: port2 }, [port2]);
      open.add(stream);
      return stream.once('close', () => open.delete(stream));
    },
    async dump(path) {
      if (failure) throw failure;
      post({ dump: path });
      await answer();
    },
    async close() {
      if (failure) return;
      failure = new Error('the embedded database is closed');
      post('close');
      await exit;
    },
  };
}

/** What the PostgreSQL driver takes for a socket. */
class Connection extends Duplex {
  readonly #port: MessagePort;

  constructor(port: MessagePort) {
    super();
    this.#port = port;
    port.on('message', (bytes: Uint8Array<ArrayBuffer>) => this.push(Buffer.from(bytes.buffer)));
  }

  connect(): void {
    queueMicrotask(() => this.emit('connect'));
  }

  setNoDelay(): void {}

  ref(): void {}

  unref(): void {}

  override _read(): void {}

  /** What belongs together comes together: a statement, its values and its end are one message to the thread. */
  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    const bytes = new Uint8Array(chunks.reduce((sum, { chunk }) => sum + chunk.length, 0));
    let at = 0;
    for (const { chunk } of chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    this.#port.postMessage(bytes, [bytes.buffer]);
    done();
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#port.close();
    done(error);
  }
}
