import { type Posted, SlackFailure, type SlackPort } from '../outbox/slack-port.ts';
import { type Phase, renderProgress } from '../views/exports/exports.ts';
import type { ExportSummary } from './model.ts';
import type { ExportContext } from './ports.ts';
import { renewExportLease } from './queries/transitions.ts';
import type { ExportProgress } from './worker/gather.ts';

/**
 * Why an attempt has to end before it is done. `lost`: another attempt has the export. `overdue`: it took so long that
 * the queue is about to take it away.
 */
type Ending = 'cancelled' | 'lost' | 'overdue';

/** Beside the work of an attempt: says that it lives, hears that somebody cancels, tells how far it is. */
export interface Heartbeat {
  /** Ends when the attempt has to. */
  readonly signal: AbortSignal;
  /** What is being done, and how many bytes of it there are. */
  readonly now: (phase: Phase, of?: number) => void;
  readonly ending: () => Ending | undefined;
  /** Who cancelled. */
  readonly by: () => string;
  /** Resolves once nothing of it is under way, so that no older message comes after the last one. */
  readonly stop: () => Promise<void>;
}

/** As long as an attempt is taken to be alive after it last said so. */
export const leaseMs = 20_000;
/** As long as a process may take: what the queue allows, and time to say so. */
export const attemptSeconds = 2 * 60 * 60;
const overdueMs = (attemptSeconds - 5 * 60) * 1000;
const beatMs = 1_000;
// Slack takes about fifty changes of messages a minute, for all exports together.
const tellMs = 3_000;

export function startHeartbeat(options: {
  readonly one: ExportSummary;
  readonly run: string;
  readonly attempt: number;
  readonly at: Posted;
  readonly slack: Pick<SlackPort, 'update'>;
  readonly progress: () => ExportProgress;
  readonly context: ExportContext;
}): Heartbeat {
  const { one, run, attempt, at, slack, progress, context } = options;
  const controller = new AbortController();
  let phase: Phase = 'starting';
  let toSend: number | undefined;
  let ending: Ending | undefined;
  let by = 'system';
  const begun = context.now().getTime();
  // Whoever looks at what an attempt left that ended is not to wait.
  let tellAfter = attempt > 1 ? 0 : Date.now() + tellMs;
  let alive = Date.now();
  let telling: Promise<void> = Promise.resolve();
  let isTelling = false;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;

  const end = (why: Ending): void => {
    ending ??= why;
    controller.abort();
  };
  const tell = async (): Promise<void> => {
    const elapsedMs = context.now().getTime() - one.askedAt.getTime();
    const { rows, bytes, announced, sent } = progress();
    const shown =
      phase === 'starting' && bytes > 0
        ? ({ phase: 'reading', bytes, of: announced } as const)
        : { phase, bytes: sent, of: toSend };
    try {
      await slack.update(at, renderProgress(one, { ...shown, rows, elapsedMs, attempt }));
    } catch (error) {
      const pause = error instanceof SlackFailure ? (error.retryAfterSeconds ?? 0) : 0;
      tellAfter = Date.now() + Math.max(tellMs, pause * 1000);
      context.log.debug({ error, id: one.id }, 'the progress of an export could not be told');
    }
  };
  const beat = async (): Promise<void> => {
    try {
      const { rows, bytes } = progress();
      const leaseUntil = new Date(context.now().getTime() + leaseMs);
      const state = await renewExportLease(context.db, { id: one.id, run, leaseUntil, rows, bytes });
      alive = Date.now();
      if (!state) end('lost');
      else if (state.cancelledBy !== undefined) {
        by = state.cancelledBy;
        end('cancelled');
      }
    } catch (error) {
      context.log.warn({ error, id: one.id }, 'an export could not say that it lives');
      // Another attempt may have begun.
      if (Date.now() - alive > leaseMs) end('lost');
    }
  };
  const tick = async (): Promise<void> => {
    await beat();
    if (context.now().getTime() - begun > overdueMs) end('overdue');
    if (isOver) return;
    if (!isTelling && ending === undefined && Date.now() >= tellAfter) {
      tellAfter = Date.now() + tellMs;
      isTelling = true;
      telling = tell().finally(() => {
        isTelling = false;
      });
    }
    schedule();
  };
  let ticking: Promise<void> = Promise.resolve();
  const schedule = (): void => {
    timer = setTimeout(() => {
      ticking = tick();
    }, beatMs);
  };
  schedule();

  return {
    signal: AbortSignal.any([context.signal, controller.signal]),
    now(next, bytes) {
      phase = next;
      toSend = bytes;
    },
    ending: () => ending,
    by: () => by,
    async stop() {
      isOver = true;
      clearTimeout(timer);
      await ticking;
      clearTimeout(timer);
      await telling;
    },
  };
}
