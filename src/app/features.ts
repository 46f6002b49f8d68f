import { join } from 'node:path';
import { createCheckpoints } from '../auth/audit/checkpoints.ts';
import { createOffboarding } from '../auth/offboarding.ts';
import { createDigestService } from '../digests/service.ts';
import { createExportService } from '../exports/service.ts';
import type { ExportLimits } from '../exports/worker/gather.ts';
import { startExportThread } from '../exports/worker/thread.ts';
import { cancelUnbegun } from '../operations/expiry.ts';
import type { Ledger } from '../operations/transitions.ts';
import { createJobPorts } from '../slack/send/job-ports.ts';
import type { Log } from '../telemetry/log.ts';
import type { Config } from './config.ts';
import type { Services } from './services.ts';
import type { Stores } from './stores.ts';

export type Features = ReturnType<typeof createFeatures>;

/** Third stage: the engines, and the ports that their jobs reach Slack and the CDN with. */
export function createFeatures(options: {
  config: Config;
  log: Log;
  now: () => Date;
  exportLimits: ExportLimits;
  stores: Stores;
  services: Services;
}) {
  const { config, log, now, exportLimits, stores, services } = options;
  const { audit, keyStore, links, outbox, policies, sealer } = stores;
  const { access, cdn, charts, clients, egress, people, zoneCache } = services;
  const { db } = stores.database;
  const { enqueue } = stores.queue;
  const { apiUrl } = config.slack;
  const renderChart = charts.draw;
  const tempDirectory = join(config.store.dataDir, 'spool');
  const ledger: Ledger = { db, sealer, audit, now, enqueue, outbox };
  const ports = {
    ...createJobPorts({
      access,
      clients,
      keyStore,
      cdn,
      exportThread: () =>
        startExportThread({ cdn: config.cdn, limits: exportLimits, directory: tempDirectory, now }),
      policies,
      people,
      audit,
      ledger,
      apiUrl,
      draw: renderChart,
      egress,
      log,
    }),
    checkpoints: createCheckpoints({ db, sealer, audit, policies, now }),
    enqueue,
    outbox,
  };
  const digests = createDigestService({ ...ports, db, now });
  const exports = createExportService({ db, ports, log, now });
  // A feature that works for people adds its own line.
  const offboarding = createOffboarding(keyStore, [
    async ({ person, tenant }) => (person ? links.close(person) : links.forgetTenant(tenant)),
    async ({ person, tenant }) => (person ? zoneCache.drop(person) : zoneCache.dropTenant(tenant)),
    (ended) => exports.endFor(ended),
    digests.pauseFor,
    async (ended) => void (await cancelUnbegun(ledger, ended)),
  ]);
  return { tempDirectory, ledger, ports, digests, exports, offboarding };
}
