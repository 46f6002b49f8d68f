import { Worker } from 'node:worker_threads';

/** A thread and the memory it shares with whoever uses it. */
export interface Thread {
  readonly worker: Worker;
  readonly memory: SharedArrayBuffer;
}

export interface IdleWorker {
  /** The spare one, or a new one where there is none. Whoever takes it gives it back or ends it. */
  readonly take: () => Thread;
  /** Only one that has nothing under way: its next user hears whatever it still says. */
  readonly giveBack: (thread: Thread) => void;
}

/**
 * Keeps one thread for the next who needs one, for a minute: to start it and have its code compiled again takes a
 * fifth of a second of a processor, as much as a file of ten megabytes takes in all. One that waits keeps no process
 * from ending.
 */
export function createIdleWorker(
  script: URL,
  { memoryBytes, idleMs = 60_000 }: { readonly memoryBytes: number; readonly idleMs?: number },
): IdleWorker {
  let spare: Thread | undefined;
  let timer: NodeJS.Timeout | undefined;

  const forget = (): void => {
    spare = undefined;
    clearTimeout(timer);
  };

  return {
    take() {
      const thread = spare;
      forget();
      if (!thread) {
        const memory = new SharedArrayBuffer(memoryBytes);
        return { memory, worker: new Worker(script, { workerData: memory }) };
      }
      forgetUser(thread.worker);
      thread.worker.ref();
      return thread;
    },
    giveBack(thread) {
      const { worker } = thread;
      forgetUser(worker);
      const gone = (): void => {
        if (spare === thread) forget();
      };
      worker.on('error', gone).on('exit', gone).unref();
      if (spare) return void worker.terminate();
      spare = thread;
      timer = setTimeout(() => {
        gone();
        void worker.terminate();
      }, idleMs);
      timer.unref();
    },
  };
}

/** Not all listeners at once: the worker has some of its own. */
function forgetUser(worker: Worker): void {
  for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event);
}
