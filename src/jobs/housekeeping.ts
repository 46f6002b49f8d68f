import { z } from 'zod';
import { purgeDeliveries } from '../store/deliveries.ts';
import { purgeKeyLinks } from '../store/key-links.ts';
import { defineJob } from './define.ts';

// Slack repeats a delivery for about an hour; a day leaves room for clocks that disagree.
const deliveriesKeptMs = 24 * 60 * 60_000;
// An expired link still says so, and offers a new one, for a day.
const keyLinksKeptMs = 24 * 60 * 60_000;

/** Removes what has served its time. */
export const housekeeping = defineJob({
  name: 'housekeeping',
  cron: '*/15 * * * *',
  data: z.object({}),
  async run(_data, { db, log, now }) {
    const deliveries = await purgeDeliveries(db, new Date(now().getTime() - deliveriesKeptMs));
    const keyLinks = await purgeKeyLinks(db, new Date(now().getTime() - keyLinksKeptMs));
    log.debug({ deliveries, keyLinks }, 'housekeeping removed what has served its time');
  },
});
