import { setTimeout as sleep } from 'node:timers/promises';
import { type Posted, SlackFailure, type SlackPort } from '../../outbox/slack-port.ts';
import { type ExportSummary, type Phase, renderProgress } from '../../views/exports/exports.ts';
import type { ExportContext } from './ports.ts';
import { moveExport } from './store.ts';
import type { ExportProgress } from './worker/worker.ts';

export type ProgressReporter = ReturnType<typeof startProgressReporter>;

/** The job's time limit. */
export const attemptSeconds = 2 * 60 * 60;
// Leaves time to store and show the end.
const overdueMs = (attemptSeconds - 5 * 60) * 1000;
const storeEveryMs = 1_000;
// Slack accepts about fifty edits of messages a minute, for all exports together.
const showEveryMs = 3_000;

/** Stores and shows the progress of an attempt while it runs, and aborts it when it has to end. */
export function startProgressReporter(options: {
  readonly one: ExportSummary;
  readonly run: string;
  readonly attempt: number;
  readonly at: Posted;
  readonly slack: Pick<SlackPort, 'update'>;
  readonly progress: () => ExportProgress;
  readonly context: ExportContext;
}) {
  const { one, run, attempt, at, slack, progress, context } = options;
  const { db, log, now } = context;
  const controller = new AbortController();
  const stopped = new AbortController();
  const begun = now().getTime();
  let phase: Phase = 'starting';
  let toSend: number | undefined;
  let reason: 'lost' | 'overdue' | undefined;
  // A later attempt is shown at once: the message is from a process that ended.
  let showAfter = attempt > 1 ? 0 : Date.now() + showEveryMs;

  const abort = (why: 'lost' | 'overdue'): void => {
    reason ??= why;
    controller.abort();
  };
  const store = async (): Promise<void> => {
    const { rows, bytes } = progress();
    const mine = { id: one.id, run, from: ['running', 'sharing'] } as const;
    if (!(await moveExport(db, mine, { row_count: rows, byte_count: bytes }))) abort('lost');
    if (now().getTime() - begun > overdueMs) abort('overdue');
  };
  const show = async (): Promise<void> => {
    showAfter = Date.now() + showEveryMs;
    const { rows, bytes, announced, sent } = progress();
    const isReading = phase === 'starting' && bytes > 0;
    const shown = isReading
      ? ({ phase: 'reading', bytes, of: announced } as const)
      : { phase, bytes: sent, of: toSend };
    const elapsedMs = now().getTime() - one.askedAt.getTime();
    try {
      await slack.update(at, renderProgress(one, { ...shown, rows, elapsedMs, attempt }));
    } catch (error) {
      const pauseMs = error instanceof SlackFailure ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
      showAfter = Date.now() + Math.max(showEveryMs, pauseMs);
      log.debug({ error, id: one.id }, 'export progress could not be shown');
    }
  };
  const report = async (): Promise<void> => {
    const { signal } = stopped;
    while (!signal.aborted) {
      await sleep(storeEveryMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await store().catch((error: unknown) => {
        log.warn({ error, id: one.id }, 'export progress could not be stored');
      });
      if (!signal.aborted && reason === undefined && Date.now() >= showAfter) await show();
    }
  };
  const reporting = report();

  return {
    signal: AbortSignal.any([context.signal, controller.signal]),
    /** `bytes`: of the files, in the phase `sending`. */
    setPhase(next: Phase, bytes?: number): void {
      phase = next;
      toSend = bytes;
    },
    /** `lost`: the export was cancelled, or another attempt has it. `overdue`: it is close to the job's time limit. */
    abortReason: () => reason,
    /** Resolves once no request is under way, so that no older message replaces the last one. */
    async stop(): Promise<void> {
      stopped.abort();
      await reporting;
    },
  };
}
