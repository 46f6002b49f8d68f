import { findScheduled } from '../../../src/commands/reports/schedules/rows.ts';
import type { Incident, Watch, WatchSubject } from '../../../src/commands/reports/watches/model.ts';
import { createWatchService, type WatchService } from '../../../src/commands/reports/watches/service.ts';
import { watchTable } from '../../../src/commands/reports/watches/table.ts';
import type { Database } from '../../../src/store/database.ts';
import { alice, createDigestHarness, type DigestHarness } from '../digests/harness.ts';

/** A workspace with watches: the real jobs on the real ports, with a clock that only tests advance. */
export interface WatchHarness extends Omit<DigestHarness, 'digests' | 'createDaily'> {
  readonly watches: WatchService;
  /** A watch of alice's that looks for disabled zones every five minutes. */
  createWatch(subject?: Partial<WatchSubject>, channel?: string): Promise<Watch>;
  find(watch: Watch): Promise<Watch>;
  /** Lets so many looks of five minutes happen. */
  look(times?: number): Promise<void>;
  incidents(): Promise<Incident[]>;
  setEnabled(zone: number, isEnabled: boolean): void;
}

const everyFive: WatchSubject = {
  condition: 'zone-state',
  targets: [],
  every: 5,
  timeZone: 'UTC',
  names: [],
  lifeSign: false,
};

const lookSeconds = 5 * 60;

export async function createWatchHarness(database: Database): Promise<WatchHarness> {
  const harness = await createDigestHarness(database);
  const { db, ports, audit, queue, now, cdn } = harness;
  const { outbox, people } = ports;
  const watches = createWatchService({ db, audit, outbox, people, enqueue: queue.enqueue, now });
  // Looks begin up to 50 s after the five minutes, each person's at a moment of their own.
  harness.advance(60_000);
  // The double's data has zones that are wrong from the start.
  for (const zone of cdn.data.zones) Object.assign(zone, { Enabled: true, Suspended: false });
  return {
    ...harness,
    watches,
    async createWatch(subject = {}, channel = 'C0OPS0000') {
      const created = await watches.create(alice, { channel, subject: { ...everyFive, ...subject } });
      const begun = await watches.begin(created, alice);
      if (!begun) throw new Error('a new watch did not begin');
      return begun;
    },
    async find({ id }) {
      const found = await findScheduled(db, watchTable, id);
      if (!found) throw new Error(`no watch ${id}`);
      return found;
    },
    async look(times = 1) {
      for (let nth = 0; nth < times; nth += 1) await harness.runJobsFor(lookSeconds, 10);
    },
    async incidents() {
      const rows = await db.selectFrom('watch_incidents').select('id').orderBy('opened_at').execute();
      const found = await Promise.all(rows.map(({ id }) => watches.findIncident(id)));
      return found.filter((one) => one !== undefined);
    },
    setEnabled(zone, isEnabled) {
      const found = cdn.data.zones[zone];
      if (found) found.Enabled = isEnabled;
    },
  };
}
