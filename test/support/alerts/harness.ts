import { type ConditionName, findCondition } from '../../../src/commands/reports/checks/list.ts';
import { findReport } from '../../../src/commands/reports/store.ts';
import type { Database } from '../../../src/store/database.ts';
import type { Alert, AlertSubject, Incident } from '../../../src/views/reports/report.ts';
import { alice, createDigestHarness } from '../digests/harness.ts';

/** A workspace with alerts: the real jobs on the real ports, with a clock that only tests advance. */
export type AlertHarness = Awaited<ReturnType<typeof createAlertHarness>>;

const everyFive: AlertSubject = {
  condition: findCondition('zone-state'),
  targets: [],
  threshold: 0,
  window: 0,
  every: 5,
  timeZone: 'UTC',
  names: [],
  lifeSign: false,
};

/** Settings of an alert with its condition by name. */
export type TestSubject = Partial<Omit<AlertSubject, 'condition'>> & { readonly condition?: ConditionName };

function toSubject({ condition = 'zone-state', ...settings }: TestSubject): AlertSubject {
  const found = findCondition(condition);
  const initial = { threshold: found.threshold?.initial ?? 0, window: found.window?.initial ?? 0 };
  return { ...everyFive, ...initial, ...settings, condition: found };
}

const lookSeconds = 5 * 60;

export async function createAlertHarness(
  database: Database,
  options?: Parameters<typeof createDigestHarness>[1],
) {
  const harness = await createDigestHarness(database, options);
  const { db, reports, cdn } = harness;
  harness.advance(60_000);
  // The double's data has zones that are wrong from the start.
  for (const zone of cdn.data.zones) Object.assign(zone, { Enabled: true, Suspended: false });
  return {
    ...harness,
    /** An alert of alice's that looks for disabled zones every five minutes. */
    async createAlert(subject: TestSubject = {}, channel = 'C0OPS0000') {
      return (await reports.create(alice, { channel, subject: toSubject(subject) })) as Alert;
    },
    async find({ id }: Alert) {
      const found = await findReport(db, id, 'alert');
      if (!found) throw new Error(`no alert ${id}`);
      return found;
    },
    /** Lets so many looks of five minutes happen. */
    async look(times = 1) {
      for (let nth = 0; nth < times; nth += 1) await harness.runJobsFor(lookSeconds, 10);
    },
    countChecks: () => cdn.requests.filter(({ path }) => path.startsWith('/pullzone')).length,
    async incidents(): Promise<Incident[]> {
      const rows = await db.selectFrom('report_incidents').select('id').orderBy('opened_at').execute();
      const found = await Promise.all(rows.map(({ id }) => reports.findIncident(id)));
      return found.filter((one) => one !== undefined);
    },
    setEnabled(zone: number, isEnabled: boolean) {
      const found = cdn.data.zones[zone];
      if (found) found.Enabled = isEnabled;
    },
  };
}
