import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCdn } from '../../../simulator/cdn/server.ts';
import { startSlack } from '../../../simulator/slack/server.ts';
import { createCdn } from '../../../src/api/cdn.ts';
import type { Ports } from '../../../src/app/jobs.ts';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import { createInstallations } from '../../../src/auth/installations.ts';
import { createKeyStore } from '../../../src/auth/keys/key-store.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import { createPolicies } from '../../../src/auth/policy/policies.ts';
import { startExportThread } from '../../../src/commands/exports/worker/thread.ts';
import { indexKinds } from '../../../src/commands/operations/kinds/kind.ts';
import { operationKinds } from '../../../src/commands/operations/kinds/list.ts';
import type { Ledger } from '../../../src/commands/operations/transitions.ts';
import { createAccountReads } from '../../../src/commands/reports/accounts.ts';
import { createSettingsHistory } from '../../../src/commands/zones/history.ts';
import { createZoneLists } from '../../../src/commands/zones/zone-cache.ts';
import { createOutbox } from '../../../src/outbox/outbox.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createInstallationAccess } from '../../../src/slack/installations.ts';
import { createPeople } from '../../../src/slack/people.ts';
import { createClients, createLibraryLog } from '../../../src/slack/send/clients.ts';
import { createEgress } from '../../../src/slack/send/egress.ts';
import { createJobPorts } from '../../../src/slack/send/job-ports.ts';
import { createNativeBlocks } from '../../../src/slack/send/native-blocks.ts';
import type { Database } from '../../../src/store/database.ts';
import type { Enqueue } from '../../../src/store/queue.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { createKeyring } from '../../auth/keyring/keyrings.ts';
import { createMemoryLog } from '../../support/engines.ts';

export type PortsHarness = Awaited<ReturnType<typeof createPortsHarness>>;

/** The real ports of jobs, against both simulators and a database, with the clock that is handed in. */
export async function createPortsHarness(options: {
  readonly database: Database;
  readonly enqueue: Enqueue;
  readonly now?: () => Date;
  readonly zones?: number;
  readonly adminIds?: readonly string[];
  /** Stands before every call to Slack: a network that breaks. */
  readonly fetch?: typeof globalThis.fetch;
}) {
  const { database, enqueue, now = () => new Date(), zones = 4, adminIds = [] } = options;
  const { db } = database;
  const [slack, cdn] = await Promise.all([startSlack({ now: () => now().getTime() }), startCdn({ zones })]);
  const log = createMemoryLog();
  const logger = createLibraryLog(log);
  const apiUrl = `${slack.url}/api/`;
  const sealer = createSealer(await createKeyring());
  const keyStore = createKeyStore({ db, sealer, now });
  const installations = createInstallations({ db, sealer, now });
  const access = createInstallationAccess({
    installing: { kind: 'single', botToken: new Secret(slack.botToken) },
    apiUrl,
    logger,
    installations,
  });
  const egress = createEgress({ log });
  const clients = createClients({
    apiUrl,
    logger,
    egress,
    sendNativeBlocks: createNativeBlocks({ log, now }).send,
    ...(options.fetch ? { fetch: options.fetch } : {}),
  });
  const audit = createAudit({ db, now });
  const metrics = createMetrics();
  const policies = createPolicies({ db, audit, now });
  const people = createPeople({
    adminIds,
    client: async (workspace) => clients.interactive(await access.token(workspace), 'T0ACME000'),
    now,
    log,
  });
  const settingsHistory = createSettingsHistory(db, sealer, now);
  const outbox = createOutbox({ enqueue, now });
  const ledger: Ledger = { db, sealer, audit, now, enqueue, outbox, kinds: indexKinds(operationKinds) };
  const directory = join(tmpdir(), `chatops-ports-${process.pid}`);
  const cdnAddress = { apiUrl: cdn.url, originLoggingUrl: cdn.originLoggingUrl };
  const cdnClient = createCdn({
    ...cdnAddress,
    timeoutMs: 2_000,
    now: () => now().getTime(),
    sleep: async () => undefined,
  });
  const ports: Ports = {
    accounts: createAccountReads({
      cdn: cdnClient,
      keyStore,
      settingsHistory,
      zoneLists: createZoneLists({ now }),
      db,
      now,
    }),
    ...createJobPorts({
      access,
      clients,
      keyStore,
      cdn: cdnClient,
      exportThread: () => startExportThread({ cdn: cdnAddress, directory, now }),
      policies,
      people,
      audit,
      ledger,
      apiUrl,
      egress,
      log,
      metrics,
      now,
    }),
    enqueue,
    outbox,
    endAccess: async () => undefined,
  };
  return {
    slack,
    cdn,
    db,
    ports,
    keyStore,
    settingsHistory,
    policies,
    audit,
    ledger,
    log,
    /** The reasons of `chatops_refusals_total`, with their counts. */
    async countRefusals(): Promise<Readonly<Record<string, number>>> {
      const text = await metrics.render({});
      const counts = text.matchAll(/^chatops_refusals_total\{reason="([^"]+)"\} (\d+)$/gmu);
      return Object.fromEntries([...counts].map(([, reason, count]) => [reason, Number(count)]));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([slack.close(), cdn.close()]);
    },
  };
}
