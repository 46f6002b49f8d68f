import { parentPort, workerData } from 'node:worker_threads';
import { createEncryptedTempFile, type EncryptedTempFile } from './encrypted-temp-file.ts';
import type { Ask, Asks, FromTransfer, ToTransfer } from './protocol.ts';
import { post, request } from './requests.ts';
import { createRingBuffer, type RingBuffer } from './ring-buffer.ts';

// The thread of `transfer.ts`.
const memory = new Uint8Array(workerData as SharedArrayBuffer);
const bodies = new Map<number, RingBuffer>();
const files = new Map<number, EncryptedTempFile>();
const stops = new Map<number, () => void>();
const tell = (message: FromTransfer): void => parentPort?.postMessage(message);

const tellMs = 100;

type Answers = {
  [Name in Ask]: (
    given: Asks[Name]['given'],
    call: number,
  ) => Asks[Name]['back'] | Promise<Asks[Name]['back']>;
};
const answers: Answers = {
  async request({ url, ...given }, call) {
    // The memory is for one of them at a time.
    for (const before of bodies.keys()) stop(before);
    const answer = await request(url, given, (asking) => stops.set(call, () => asking.destroy()));
    bodies.set(call, createRingBuffer(answer, memory));
    const stopAsking = stops.get(call);
    stops.set(call, () => {
      answer.body.destroy();
      stopAsking?.();
      bodies.delete(call);
    });
    return { status: answer.status, headers: answer.headers };
  },
  piece: ({ body }) => known(bodies, body).next(),
  open({ directory }, call) {
    files.set(call, createEncryptedTempFile(directory));
    return undefined;
  },
  write({ file, piece }) {
    const bytes = 'from' in piece ? memory.subarray(piece.from, piece.from + piece.length) : piece;
    known(files, file).write(bytes);
    return undefined;
  },
  finish: ({ file }) => ({ sha256: known(files, file).finish() }),
  async send({ file, url, headers }, call) {
    let moved = 0;
    let toldAt = 0;
    const body = known(files, file).read((bytes) => {
      moved += bytes;
      if (performance.now() - toldAt < tellMs) return;
      toldAt = performance.now();
      tell({ call, moved });
      moved = 0;
    });
    const taken = await post(url, { headers, body }, (asking) => stops.set(call, () => asking.destroy()));
    stops.delete(call);
    tell({ call, moved });
    return taken;
  },
  discard({ file }) {
    files.get(file)?.discard();
    files.delete(file);
    return undefined;
  },
};

parentPort?.on('message', (message: ToTransfer) => {
  if ('stop' in message) {
    stop(message.stop);
    return;
  }
  void answer(message.ask, message.given, message.call);
});

function stop(call: number): void {
  stops.get(call)?.();
  stops.delete(call);
}

async function answer(name: Ask, given: Asks[Ask]['given'], call: number): Promise<void> {
  // The name says what is given: `ToTransfer` ties both together.
  const handler = answers[name] as (given: Asks[Ask]['given'], call: number) => unknown;
  try {
    tell({ call, back: (await handler(given, call)) as Asks[Ask]['back'] });
  } catch (error) {
    tell({ call, failed: { code: codeOf(error) } });
  }
}

function known<T>(all: ReadonlyMap<number, T>, number: number): T {
  const one = all.get(number);
  if (!one) throw new Error('the thread was asked for what it does not have');
  return one;
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause);
}
