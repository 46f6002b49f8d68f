import { z } from 'zod';
import { purgeKeyLinks } from '../../auth/keys/links.ts';
import { purgeDigests } from '../../digests/queries/digests.ts';
import { purgeRuns } from '../../digests/queries/runs.ts';
import { dayMs, hourMs } from '../../lib/time.ts';
import { purgeBuckets } from '../../outbox/rate-limit.ts';
import { purgeDeliveries } from '../../store/deliveries.ts';
import { defineJob } from '../../store/queue/define-job.ts';

// Slack repeats a delivery for about an hour; a day leaves room for clocks that disagree.
const deliveriesKeptMs = dayMs;
// An expired link still says so, and offers a new one, for a day.
const keyLinksKeptMs = dayMs;

// A deletion can be undone for minutes (`jobs/digest-book.ts`); what was just deleted may still be under way.
const deletedDigestsKeptMs = hourMs;
// Runs are what later ones are compared with: a quarter of a year of them.
const runsKeptMs = 100 * dayMs;
const lanesKeptMs = dayMs;

/** Removes what has served its time. */
export const housekeeping = defineJob({
  name: 'housekeeping',
  cron: '*/15 * * * *',
  data: z.object({}),
  async run(_data, { db, log, now }) {
    const deliveries = await purgeDeliveries(db, new Date(now().getTime() - deliveriesKeptMs));
    const keyLinks = await purgeKeyLinks(db, new Date(now().getTime() - keyLinksKeptMs));
    const digests = await purgeDigests(db, new Date(now().getTime() - deletedDigestsKeptMs));
    const runs = await purgeRuns(db, new Date(now().getTime() - runsKeptMs));
    await purgeBuckets(db, new Date(now().getTime() - lanesKeptMs));
    log.debug({ deliveries, keyLinks, digests, runs }, 'housekeeping removed what has served its time');
  },
});
