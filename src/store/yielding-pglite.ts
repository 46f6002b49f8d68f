import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PGlite } from '@electric-sql/pglite';

/** Nobody's delivery waits for longer than this and one query. */
const longestMs = 8;

/**
 * The embedded database answers without ever leaving its thread: whatever asks one thing after the other, and a dozen
 * jobs that do so at once, would let nothing else in, neither timers nor deliveries of Slack. So what asks steps back
 * when the thread has had no turn for a while. Within a transaction too: its lock is kept meanwhile.
 */
export function createYieldingPglite(pglite: PGlite): PGlite {
  const ask = pglite.execProtocolStream.bind(pglite);
  let since: number | undefined;
  let turn: Promise<void> | undefined;
  const stepBack = async (): Promise<void> => {
    await nextTurn();
    since = undefined;
  };
  pglite.execProtocolStream = async (...about) => {
    if (since === undefined) {
      since = performance.now();
      turn = stepBack();
    } else if (performance.now() - since > longestMs) await turn;
    return ask(...about);
  };
  return pglite;
}
