import { z } from 'zod';
import { purgeKeyLinks } from '../../auth/keys/links.ts';
import { purgeDigests } from '../../digests/queries/digests.ts';
import { purgeRuns } from '../../digests/queries/runs.ts';
import { dayMs, hourMs } from '../../lib/time.ts';
import { purgeOutbox } from '../../outbox/outbox.ts';
import { purgePace } from '../../outbox/pace.ts';
import { purgeDeliveries } from '../../store/deliveries.ts';
import { defineJob } from '../../store/queue/define-job.ts';

// Slack repeats a delivery for about an hour; a day leaves room for clocks that disagree.
const deliveriesKeptMs = dayMs;
// An expired link still says so, and offers a new one, for a day.
const keyLinksKeptMs = dayMs;
// A deletion can be undone for minutes; a run of a deleted digest may still be under way.
const deletedDigestsKeptMs = hourMs;
// Later runs are compared with earlier ones of a quarter of a year.
const runsKeptMs = 100 * dayMs;
// A message can be edited for as long as its row is kept.
const messagesKeptMs = 100 * dayMs;
const paceKeptMs = dayMs;

/** Deletes rows that have served their purpose. */
export const housekeeping = defineJob({
  name: 'housekeeping',
  cron: '*/15 * * * *',
  data: z.object({}),
  async run(_data, { db, log, now }) {
    const before = (keptMs: number): Date => new Date(now().getTime() - keptMs);
    const deliveries = await purgeDeliveries(db, before(deliveriesKeptMs));
    const keyLinks = await purgeKeyLinks(db, before(keyLinksKeptMs));
    const digests = await purgeDigests(db, before(deletedDigestsKeptMs));
    const runs = await purgeRuns(db, before(runsKeptMs));
    const messages = await purgeOutbox(db, before(messagesKeptMs));
    await purgePace(db, before(paceKeptMs));
    log.debug({ deliveries, keyLinks, digests, runs, messages }, 'old rows deleted');
  },
});
