/**
 * How long parsing may hold the process at a stretch, for everything together: with the rest of a turn of the event
 * loop this stays below the 10 ms that an acknowledgement may wait.
 */
const stretchMs = 4;

/** Lets other work in when it is due. To be awaited between two pieces of work of a millisecond at most. */
export type YieldToEventLoop = () => Promise<void>;

/** One pace for all readers of a client: four lists read at once must not hold the process four times as long. */
export function createYieldToEventLoop(): YieldToEventLoop {
  let since = performance.now();
  let turn: Promise<void> | undefined;
  return async function breathe() {
    while (performance.now() - since > stretchMs) {
      turn ??= new Promise((resolve) => {
        setImmediate(() => {
          turn = undefined;
          since = performance.now();
          resolve();
        });
      });
      await turn;
    }
  };
}
