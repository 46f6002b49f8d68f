import { createHash } from 'node:crypto';
import { hourMs, minuteMs } from '../lib/time.ts';
import type { PlannedRun } from './queries/schedule-runs.ts';
import { findNextRun, type Schedule } from './schedule.ts';

/** Runs start within this time after they are due, each digest at its own moment of it: nine o'clock is many digests. */
const jitterMs = 50_000;

/** A run that starts later than this says so. */
const lateMs = 10 * minuteMs;

/** A run that starts later than this, or than half the way to the next one, is skipped: it would speak of another day. */
const tooOldMs = 6 * hourMs;

/** As many skipped runs are kept one by one; more are only counted. */
const mostSkipped = 100;

/**
 * The run that is to be planned for a digest whose first unplanned one is `nextDue`, and the first one after it. Where
 * several are in the past the last one runs (late, or skipped with a word), and those before it are skipped with it.
 */
export function planRun(
  digest: { readonly id: string; readonly schedule: Schedule },
  nextDue: Date,
  now: Date,
): { readonly planned: PlannedRun; readonly next: Date } {
  const skipped: Date[] = [];
  let missed = 0;
  let due = nextDue;
  let next = findNextRun(digest.schedule, due);
  while (next <= now) {
    missed += 1;
    skipped.push(due);
    if (skipped.length > mostSkipped) skipped.shift();
    due = next;
    next = findNextRun(digest.schedule, due);
  }
  return { planned: { due, runAt: startOf(digest.id, due), missed, skipped }, next };
}

/** Whether a run that starts now is in time, late, or of no use any more. Without a schedule somebody asked for it. */
export function classifyLateness(
  schedule: Schedule | undefined,
  due: Date,
  now: Date,
): 'in time' | 'late' | 'too old' {
  const behind = now.getTime() - due.getTime();
  if (behind <= lateMs) return 'in time';
  const period = schedule ? findNextRun(schedule, due).getTime() - due.getTime() : Number.POSITIVE_INFINITY;
  return behind > Math.min(tooOldMs, period / 2) ? 'too old' : 'late';
}

function startOf(id: string, due: Date): Date {
  const hash = createHash('sha256').update(id).digest().readUInt32BE();
  return new Date(due.getTime() + (hash % jitterMs));
}
