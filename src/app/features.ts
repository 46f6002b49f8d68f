import { join } from 'node:path';
import { tenantId } from '../auth/identity.ts';
import { createOffboarding } from '../auth/offboarding.ts';
import type { Doctor } from '../commands/define.ts';
import { createExportService } from '../commands/exports/service.ts';
import { exportLimits } from '../commands/exports/worker/gather.ts';
import { startExportThread } from '../commands/exports/worker/thread.ts';
import { cancelUnbegun } from '../commands/operations/expiry.ts';
import { indexKinds } from '../commands/operations/kinds/kind.ts';
import { operationKinds } from '../commands/operations/kinds/list.ts';
import type { Ledger } from '../commands/operations/transitions.ts';
import { createAccountReads } from '../commands/reports/accounts/reads.ts';
import { createReports } from '../commands/reports/life.ts';
import { createPauseHook } from '../commands/reports/pauses.ts';
import { createJobPorts } from '../slack/send/job-ports.ts';
import { workspaceOf } from '../slack/sender.ts';
import { runChecks } from './doctor/checks.ts';
import { findChannels } from './doctor/stores.ts';
import type { Services } from './services.ts';
import type { Base, Stores } from './stores.ts';

export type Features = ReturnType<typeof createFeatures>;

/** Third stage: the engines, and the ports that their jobs reach Slack and the CDN with. */
export function createFeatures(base: Base, stores: Stores, services: Services) {
  const { config, log, now } = base;
  const { audit, installations, keyStore, links, names, outbox, sealer } = stores;
  const { metrics, onAttempt, zoneCache } = services;
  const { db } = stores.database;
  const { enqueue } = stores.queue;
  const tempDirectory = join(config.store.dataDir, 'spool');
  const accounts = createAccountReads({ ...stores, ...services, db, now });
  const ledger: Ledger = {
    db,
    sealer,
    audit,
    now,
    enqueue,
    outbox,
    kinds: indexKinds(operationKinds),
    onTransition: metrics.operationMoved,
    onRefused: metrics.refused,
  };
  const ports = {
    ...createJobPorts({
      ...stores,
      ...services,
      exportThread: () =>
        startExportThread({
          cdn: config.cdn,
          limits: base.exportLimits ?? exportLimits,
          directory: tempDirectory,
          onAttempt,
          now,
        }),
      ledger,
      log,
      now,
    }),
    accounts,
    enqueue,
    outbox,
  };
  const reports = createReports({ ...ports, db, now });
  const exports = createExportService({ db, ports, log, now });
  // A feature that works for people adds its own line.
  const endAccess = createOffboarding({
    installations,
    keyStore,
    links,
    log,
    hooks: [
      async ({ person, tenant }) => (person ? zoneCache.drop(person) : zoneCache.dropTenant(tenant)),
      accounts.drop,
      (ended) => names.forget(ended),
      (ended) => exports.endFor(ended),
      createPauseHook({ ...ports, db, now }),
      async (ended) => void (await cancelUnbegun(ledger, ended)),
    ],
  });
  const doctor: Doctor = {
    retryNativeBlocks: async (person) => stores.nativeSupport.forget(tenantId(person)),
    async examine(person) {
      const token = await services.access.token(workspaceOf(person));
      const channels = await findChannels(stores.database, tenantId(person));
      return runChecks('command', {
        ...base,
        ...services,
        database: stores.database,
        findWorkspaces: async () => ({ found: [], workspaces: [{ token, channels }] }),
        support: stores.nativeSupport,
        probe: person.userId,
        key: (await keyStore.reveal(person))?.key,
      });
    },
  };
  return {
    tempDirectory,
    doctor,
    accounts,
    ledger,
    ports: { ...ports, endAccess },
    reports,
    exports,
  };
}
