import type { OriginError } from '../../../../api/origin-errors/origin-errors.ts';
import { createSeenIds, hashId } from '../../../../api/origin-errors/seen-ids.ts';
import { minuteMs } from '../../../../lib/time.ts';

/** Entries that arrive so late are still counted: log lines of many servers are collected in minutes. */
export const slackMs = 15 * minuteMs;
/** Ids that are kept between two looks, of eight bytes each: beyond it the oldest go, and with them some slack. */
const mostIds = 30_000;

/** How far a log was counted, as it is stored. */
export interface StoredPosition {
  /** Epoch ms. Entries up to here are not counted any more. */
  readonly boundary: number;
  /** The newest entry that was counted, epoch ms. */
  readonly newest: number;
  /** Those that were counted behind the boundary: minutes since the epoch, with hashed ids as base64 of their doubles. */
  readonly recent: readonly (readonly [minute: number, ids: string])[];
}

/**
 * Tells entries that were counted from new ones. An entry that arrives within the slack counts once, however often and in
 * whatever order logs are read. Entries without a time have no place and are never new; one without an id is known by its
 * time, code, status and path. Times further ahead than the slack wait until a later look.
 */
export function createPosition(stored: StoredPosition, now: number) {
  const seen = createSeenIds();
  const recent = new Map<number, number[]>();
  let { boundary, newest } = stored;
  let counted = 0;
  for (const [minute, text] of stored.recent) {
    const ids = decodeIds(text);
    recent.set(minute, ids);
    for (const id of ids) seen.isNewHash(id);
  }

  /** The first minute whose ids must be known at the next look. */
  const firstMinute = (): number => Math.floor((Math.min(newest, now) - slackMs) / minuteMs);
  let kept = firstMinute();

  const forget = (): void => {
    kept = firstMinute();
    for (const minute of recent.keys()) if (minute < kept) recent.delete(minute);
  };

  return {
    isNew(entry: OriginError): entry is OriginError & { readonly at: number } {
      const { at } = entry;
      if (at === undefined || at <= boundary || at > now + slackMs) return false;
      const id = hashId(entry.id || `${at} ${entry.errorCode} ${entry.statusCode} ${entry.path()}`);
      if (!seen.isNewHash(id)) return false;
      counted += 1;
      if (at > newest) {
        newest = at;
        // Once a minute of the log, if it is in order.
        if (firstMinute() > kept) forget();
      }
      const minute = Math.floor(at / minuteMs);
      if (minute < kept) return true;
      const ids = recent.get(minute);
      if (ids) ids.push(id);
      else recent.set(minute, [id]);
      return true;
    },
    /** Entries that were new. */
    counted: () => counted,
    /** The position after this look. */
    advance(): StoredPosition {
      forget();
      boundary = Math.max(boundary, kept * minuteMs - 1);
      const minutes = [...recent].sort(([a], [b]) => a - b);
      let size = minutes.reduce((sum, [, ids]) => sum + ids.length, 0);
      while (size > mostIds) {
        const [minute, ids] = minutes.shift() as [number, number[]];
        size -= ids.length;
        boundary = (minute + 1) * minuteMs - 1;
      }
      return { boundary, newest, recent: minutes.map(([minute, ids]) => [minute, encodeIds(ids)]) };
    },
  };
}

function encodeIds(ids: readonly number[]): string {
  return Buffer.from(Float64Array.from(ids).buffer).toString('base64');
}

function decodeIds(text: string): number[] {
  const bytes = Buffer.from(text, 'base64');
  return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readDoubleLE(index * 8));
}
