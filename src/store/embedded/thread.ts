import { writeFile } from 'node:fs/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';

export type Request = { readonly connection: MessagePort } | { readonly dump: string } | 'close';
export type Answer = 'done' | { readonly failed: string; readonly code: unknown };

/** The embedded PostgreSQL: one session, whose connection is a port that carries PostgreSQL's protocol. */
async function serve(parent: MessagePort, directory: string): Promise<void> {
  const pglite = await PGlite.create(directory, {
    startParams: [
      ...PGlite.defaultStartParams,
      '-c',
      'shared_buffers=8MB',
      '-c',
      'max_connections=4',
      '-c',
      'min_wal_size=32MB',
      '-c',
      'max_wal_size=64MB',
    ],
  });
  let last: Promise<void> = Promise.resolve();
  /** A failure of the engine itself ends the thread. */
  const inTurn = (work: () => Promise<void>): void => {
    last = last.then(work);
  };

  const connect = (port: MessagePort): void => {
    // What the connection before left behind: a transaction, statements, channels.
    inTurn(async () => {
      await pglite.exec('rollback');
      await pglite.exec('discard all');
    });
    port.on('message', (asked: Uint8Array) => {
      inTurn(async () => {
        const pieces: Uint8Array[] = [];
        const onRawData = (piece: Uint8Array): void => void pieces.push(piece.slice());
        await pglite.execProtocolRawStream(asked, { syncToFs: false, onRawData });
        // In separate memory, which can be transferred.
        const answer = new Uint8Array(Buffer.concat(pieces));
        port.postMessage(answer, [answer.buffer]);
      });
    });
  };

  const dump = async (path: string): Promise<Answer> => {
    try {
      const copy = await pglite.dumpDataDir('gzip');
      await writeFile(path, copy.stream(), { mode: 0o600, flush: true });
      return 'done';
    } catch (error) {
      return { failed: String(error), code: (error as NodeJS.ErrnoException).code };
    }
  };

  parent.on('message', (request: Request) => {
    if (request === 'close')
      inTurn(async () => {
        await pglite.close();
        parent.close();
      });
    else if ('dump' in request) inTurn(async () => parent.postMessage(await dump(request.dump)));
    else connect(request.connection);
  });
  parent.postMessage('done' satisfies Answer);
}

if (parentPort) await serve(parentPort, String(workerData));
