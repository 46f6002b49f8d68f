import { setTimeout as delay } from 'node:timers/promises';
import type { OriginError, OriginErrorDay } from '../../../api/origin-errors/origin-errors.ts';
import type { createSharedReads } from './shared-reads.ts';

/** How long a download waits for others that want the same day, ms. The answer's own delay comes on top. */
const gatherMs = 25;

/** Short: it runs on the way. */
export type Visit = (entry: OriginError) => void | Promise<void>;

interface Download {
  readonly key: string;
  visits: readonly Visit[];
}

/** One read of a day's log. `key` names account, zone and day. */
interface LogRead {
  readonly key: string;
  readonly operation: string;
  readonly start: (until: AbortSignal, visit: Visit) => Promise<OriginErrorDay>;
}

/**
 * Days of origin error logs, each up to hundreds of megabytes, so that nothing of them is kept: a download is shared by those
 * who ask before its first entry has arrived.
 */
export function createSharedLogs(shared: ReturnType<typeof createSharedReads>) {
  const waiting = new Map<string, Download>();
  let downloads = 0;

  return async function forEach(
    { key, operation, start }: LogRead,
    visit: Visit,
    signal: AbortSignal,
  ): Promise<OriginErrorDay> {
    let joined = waiting.get(key);
    if (!joined) {
      downloads += 1;
      joined = { key: `${key}\n${downloads}`, visits: [] };
      waiting.set(key, joined);
    }
    const download = joined;
    const close = (): void => {
      if (waiting.get(key) === download) waiting.delete(key);
    };
    const visitAll: Visit = (entry) => {
      close();
      let waits: Promise<void>[] | undefined;
      for (const visit of download.visits) {
        const visited = visit(entry);
        if (visited) (waits ??= []).push(visited);
      }
      return waits && Promise.all(waits).then(() => undefined);
    };
    const read = async (until: AbortSignal): Promise<OriginErrorDay> => {
      try {
        // Where all who asked have gone, the request says so.
        await delay(gatherMs, undefined, { signal: until }).catch(() => undefined);
        return await start(until, visitAll);
      } finally {
        close();
      }
    };
    download.visits = [...download.visits, visit];
    try {
      return await shared.read({ key: download.key, operation, start: read, kept: nothing }, signal);
    } finally {
      download.visits = download.visits.filter((one) => one !== visit);
    }
  };
}

/** A result that is not kept. */
const nothing = { get: () => undefined, set: () => undefined };
