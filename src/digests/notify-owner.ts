import { z } from 'zod';
import { tenantId } from '../auth/identity.ts';
import { hourMs } from '../lib/time.ts';
import { acquireBucket } from '../outbox/rate-limit.ts';
import { type Marker, SlackFailure } from '../outbox/slack-port.ts';
import { defineJob } from '../store/queue/define-job.ts';
import type { Message } from '../views/blocks/message.ts';
import * as views from '../views/digests/notices.ts';
import { channelIntervalMs } from './pace.ts';
import type { DigestContext } from './ports.ts';
import { type DigestRow, findDigestById } from './queries/digests.ts';
import { readDigest } from './row.ts';

/** Tells the owner that nobody knows whether a post arrived. */
export const notifyUnknownJob = defineJob({
  name: 'digest-unknown',
  data: z.object({ digestId: z.string(), due: z.iso.datetime() }),
  retries: 5,
  async run({ digestId, due }, context: DigestContext) {
    const row = await findDigestById(context.db, digestId);
    if (!row) return;
    const digest = readDigest(row);
    const marker: Marker = { type: 'digest_unknown', payload: { digest: digestId, due } };
    const notice = views.renderUnknown({ digest, due: new Date(due) });
    const { configuredAdmins } = context.ports.people(digest.owner);
    await tellFirst([digest.owner.userId, ...configuredAdmins], notice, marker, row, context);
  },
});

/** Sends a notice to the first place that takes it. An answer that got lost counts as taken: better once than twice. */
async function tellFirst(
  places: readonly string[],
  notice: Message,
  marker: Marker,
  row: DigestRow,
  context: DigestContext,
): Promise<void> {
  const { owner } = readDigest(row);
  const slack = context.ports.slack(owner, context.signal);
  for (const [index, place] of places.entries()) {
    // A process before this one may have sent it.
    if (context.attempt > 1 && index === 0 && (await isThere(place))) return;
    if (
      !(await acquireBucket(
        context.db,
        { tenant: tenantId(owner), lane: place },
        context.now(),
        channelIntervalMs,
      ))
    )
      throw new Error('another message goes to that place at this moment');
    try {
      await slack.post(place, notice, { marker });
      return;
    } catch (error) {
      if (error instanceof SlackFailure && error.outcome === 'unknown') return;
      if (error instanceof SlackFailure && error.code === 'ratelimited') throw error;
      context.log.info({ digest: row.id, place, error }, 'a place could not be told about a digest');
    }
  }
  context.log.error({ digest: row.id }, 'nobody could be told about a run of a digest');

  async function isThere(channel: string): Promise<boolean> {
    const since = new Date(context.now().getTime() - hourMs);
    return slack.find(marker, { channel, since }).then(
      (found) => found !== undefined,
      () => false,
    );
  }
}
