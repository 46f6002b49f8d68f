import { digestCard } from '../../../views/reports/card.ts';
import type { ScheduledTable } from '../schedules/model.ts';
import { definePauses } from '../schedules/pauses.ts';
import { readScheduled } from '../schedules/rows.ts';
import type { Digest, DigestOrder } from './model.ts';

export const digestTable: ScheduledTable<Digest> = {
  name: 'digests',
  noun: 'digest',
  read: (row) => ({
    ...(JSON.parse(row.body) as Pick<DigestOrder, 'subject' | 'schedule'>),
    ...readScheduled(row),
  }),
};

export const digestPauses = definePauses(digestTable, digestCard);
