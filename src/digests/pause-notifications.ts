import { z } from 'zod';
import { hourMs, minuteMs } from '../lib/time.ts';
import { acquireBucket, blockBucket } from '../outbox/rate-limit.ts';
import { type Marker, SlackFailure, type SlackPort } from '../outbox/slack-port.ts';
import { defineJob } from '../store/queue/define-job.ts';
import * as views from '../views/digests/notices.ts';
import { classifySlackFailure } from './classify-failure.ts';
import type { Digest, PauseReason } from './model.ts';
import { channelIntervalMs } from './pace.ts';
import type { DigestContext } from './ports.ts';
import type { DigestRow } from './queries/digests.ts';
import {
  claimNotification,
  delayNotification,
  findNextNotificationTime,
  moveNotification,
  type NotificationState,
} from './queries/pause-notifications.ts';
import { readDigest } from './row.ts';

/** Longer than telling takes. Another process goes on afterwards. */
const leaseMs = 2 * minuteMs;
/** After a call without an answer: Slack may still be at it. */
const settleMs = 15_000;
/** Nobody says when a token works again. */
const noTokenMs = hourMs;

/**
 * Tells that digests stopped, each with one message: in its channel, else to its owner, else to the admins that are
 * configured. What there is to tell stands in the digests themselves, so that no job that is lost loses any of it.
 */
export const notifyPausesJob = defineJob({
  name: 'digest-pauses',
  cron: '* * * * *',
  data: z.object({}),
  atOnce: 1,
  // The next minute does the same.
  retries: 0,
  async run(_data, context: DigestContext) {
    const { db, now, ports, signal } = context;
    for (;;) {
      if (signal.aborted) return;
      const row = await claimNotification(db, now(), leaseMs);
      if (!row) break;
      await tell(row, context);
    }
    const next = await findNextNotificationTime(db);
    if (!next || next.getTime() - now().getTime() > minuteMs) return;
    // Of all who find that, one comes back.
    const at = new Date(Math.max(next.getTime(), now().getTime() + channelIntervalMs));
    await db.transaction().execute(async (trx) => {
      const wake = { tenant: '', lane: 'digest-pauses' };
      if (await acquireBucket(trx, wake, now(), at.getTime() - now().getTime()))
        await ports.enqueue(notifyPausesJob, {}, { in: trx, at });
    });
  },
});

async function tell(row: DigestRow, context: DigestContext): Promise<void> {
  const { db, now, ports, signal, log } = context;
  const digest = readDigest(row);
  const reason = digest.paused?.reason;
  if (!reason) return;
  const untold: NotificationState = reason === 'uninstalled' ? 'each' : 'no';
  const marker: Marker = { type: 'digest_paused', payload: { digest: row.id, revision: row.revision } };
  const slack = ports.slack(digest.owner, signal);
  const places = placesOf(digest, reason, ports.people(digest.owner).configuredAdmins);
  const rest = (forMs: number) => delayNotification(db, row, now(), forMs);

  // Its process died, or Slack did not answer, while this place was told.
  const before = /^telling (\d+)$/u.exec(row.paused_told ?? '')?.[1];
  const begin = before === undefined ? 0 : Number(before);
  if (before !== undefined) {
    const seen = await look(slack, marker, places[begin], row);
    if (seen === 'later') return rest(minuteMs);
    if (seen === 'there') return void (await moveNotification(db, row, 'yes'));
  }
  let held: DigestRow | undefined = row;
  for (const [index, place] of [...places.entries()].slice(begin)) {
    if (!(await acquireBucket(db, { tenant: row.tenant, lane: place }, now(), channelIntervalMs))) {
      await moveNotification(db, held, untold);
      return rest(channelIntervalMs);
    }
    held = await moveNotification(db, held, `telling ${index}`);
    if (!held) return;
    try {
      const others = place !== digest.owner.userId;
      await slack.post(place, views.renderPaused({ digest, reason, others }), { marker });
      return void (await moveNotification(db, held, 'yes'));
    } catch (error) {
      // In a channel it is looked for; elsewhere the bot may not look, and once is better than twice.
      if (error instanceof SlackFailure && error.outcome === 'unknown')
        return isChannel(place) ? rest(settleMs) : void (await moveNotification(db, held, 'yes'));
      const trouble = classifySlackFailure(error);
      if (trouble.kind === 'later') {
        await blockBucket(db, { tenant: row.tenant, lane: place }, now(), trouble.afterMs);
        await moveNotification(db, held, untold);
        return rest(trouble.afterMs);
      }
      if (trouble.kind === 'halt' && trouble.reason === 'uninstalled') {
        // Those that stopped with the app wait for it to be back, again.
        await moveNotification(db, held, 'no');
        return rest(noTokenMs);
      }
      log.info({ digest: row.id, place, error }, 'a place could not be told about a digest');
    }
  }
  await moveNotification(db, held, 'nobody');
  log.error({ digest: row.id, reason }, 'nobody could be told that a digest was paused');
}

function placesOf(digest: Digest, reason: PauseReason, admins: readonly string[]): string[] {
  const owner = reason === 'owner-gone' ? [] : [digest.owner.userId];
  return [...new Set([digest.channel, ...owner, ...admins])];
}

/** Whether a place was told by somebody who did not live to write it down. Where nobody can say, it was: once is better than twice. */
async function look(
  slack: SlackPort,
  marker: Marker,
  place: string | undefined,
  { paused_at: at }: DigestRow,
): Promise<'there' | 'not there' | 'later'> {
  if (place === undefined) return 'not there';
  if (!isChannel(place)) return 'there';
  try {
    const since = at ?? new Date(0);
    return (await slack.find(marker, { channel: place, since })) ? 'there' : 'not there';
  } catch (error) {
    const trouble = classifySlackFailure(error);
    // Slack keeps it out, as it keeps a message out.
    if (trouble.kind === 'halt') return trouble.reason === 'uninstalled' ? 'later' : 'not there';
    const again = trouble.kind === 'later' || (error instanceof SlackFailure && error.outcome === 'unknown');
    return again ? 'later' : 'there';
  }
}

function isChannel(place: string): boolean {
  return /^[CG]/u.test(place);
}
