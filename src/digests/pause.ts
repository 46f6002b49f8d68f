import type { Digest, PauseReason } from './model.ts';
import { notifyPausesJob } from './pause-notifications.ts';
import type { DigestContext } from './ports.ts';
import { pauseDigestRow } from './queries/digests.ts';
import { type ClaimedRun, moveRun } from './queries/runs.ts';

/** Stops a digest and lets people know, once: that they are to be told is stored with it, telling them is a job of its own. */
export async function pauseDigest(
  digest: Digest,
  reason: PauseReason,
  run: ClaimedRun,
  { db, ports, now, log }: DigestContext,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // Somebody else who holds the run now finds out for themselves.
    if (!(await moveRun(trx, run, run.state, 'failed', { reason, parts: null }))) return;
    const stopped = await pauseDigestRow(trx, digest.id, { reason, at: now() });
    if (!stopped) return;
    // Without the app in the workspace nobody can be told before it is back (`digest-return.ts`).
    if (reason !== 'uninstalled') await ports.enqueue(notifyPausesJob, {}, { in: trx });
    await ports.audit.record(
      {
        tenant: digest.tenant,
        actor: 'system',
        event: 'digest-paused',
        subject: digest.id,
        detail: { reason, owner: digest.owner.userId, channel: digest.channel },
      },
      { in: trx },
    );
  });
  log.warn({ digest: digest.id, reason }, 'a digest was paused');
}
