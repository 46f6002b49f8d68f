import { join } from 'node:path';
import { createAudit } from '../auth/audit/audit.ts';
import { createCheckpoints } from '../auth/audit/checkpoints.ts';
import { createInstallations } from '../auth/installations.ts';
import { createKeyStore } from '../auth/keys/key-store.ts';
import { createKeyLinks } from '../auth/keys/links.ts';
import { createSealer } from '../auth/keys/sealing.ts';
import { createOffboarding, type OffboardingHook } from '../auth/offboarding.ts';
import { createPolicies } from '../auth/policy/policies.ts';
import type { Chart } from '../charts/chart.ts';
import { createCharts } from '../charts/charts.ts';
import { createZoneCache } from '../commands/zones/zone-cache.ts';
import { findReinstalledJob } from '../digests/reinstall-notifications.ts';
import { createDigestService } from '../digests/service.ts';
import { UserError } from '../errors.ts';
import { createExportService } from '../exports/service.ts';
import { type ExportLimits, exportLimits as slackLimits } from '../exports/worker/gather.ts';
import { startExportThread } from '../exports/worker/thread.ts';
import { cancelUnbegun } from '../operations/expiry.ts';
import type { Ledger } from '../operations/transitions.ts';
import { createOutbox } from '../outbox/outbox.ts';
import { createPeople } from '../slack/people.ts';
import { oncePerMinute } from '../slack/receive/authorize.ts';
import { createBolt, createBoltLog } from '../slack/receive/bolt.ts';
import { createHttpReceiver } from '../slack/receive/http-receiver.ts';
import { createInFlight } from '../slack/receive/in-flight.ts';
import { createSocketReceiver } from '../slack/receive/socket-receiver.ts';
import { createDirectMessenger, createJobPorts } from '../slack/send/job-ports.ts';
import { tenantIdOfWorkspace } from '../slack/sender.ts';
import { createConnectPage } from '../slack/web/connect-page.ts';
import { createWeb } from '../slack/web/server.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { createClaims } from '../store/deliveries.ts';
import { createQueue } from '../store/queue/queue.ts';
import type { Log } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import type { Config } from './config.ts';
import { jobs } from './jobs/registry.ts';
import { openKeyringService } from './keyring-service.ts';
import { type ChatApp, createLifecycle, type Role } from './lifecycle.ts';
import { createOutbound } from './outbound.ts';
import { registerConfigSecrets } from './register-config-secrets.ts';

export interface AppOptions {
  readonly config: Config;
  readonly log: Log;
  readonly role?: Role;
  readonly fetch?: typeof globalThis.fetch;
  readonly now?: () => Date;
  /** Slack's unless told otherwise. */
  readonly exportLimits?: ExportLimits;
}

/** Wires everything and starts nothing but the database, which the wiring needs. */
export async function buildApp(options: AppOptions): Promise<ChatApp> {
  const { config, log, role = 'all', fetch = globalThis.fetch, now = () => new Date() } = options;
  const { exportLimits = slackLimits } = options;
  const release = registerConfigSecrets(config);
  const database = await openDatabase({ ...config.store, log }).catch((error: unknown) => {
    release();
    throw error;
  });
  try {
    return await wire({ config, log, role, fetch, now, exportLimits, database, release });
  } catch (error) {
    await database.close();
    release();
    throw error;
  }
}

async function wire(
  options: Required<AppOptions> & { database: Database; release: () => void },
): Promise<ChatApp> {
  const { config, log, role, now, database } = options;
  await database.migrate();
  const { db } = database;
  const queue = createQueue({ database, log, now });
  const keys = await openKeyringService({ config, database, log });
  const sealer = createSealer(keys.keyring);
  const keyStore = createKeyStore({ db, sealer, now });
  const installations = createInstallations({
    db,
    sealer,
    now,
    withLock: database.withLock,
    async onStored(tenant, options) {
      await queue.enqueue(findReinstalledJob, { tenant }, options);
    },
  });
  const zoneCache = createZoneCache({ now });
  const charts = createCharts();
  const logger = createBoltLog(log);
  const { egress, slackFetch, access, clients, cdn } = createOutbound({
    config,
    log,
    logger,
    installations,
    fetch: options.fetch,
    now,
  });
  const { apiUrl, appToken, signingSecret } = config.slack;
  const inFlight = createInFlight();
  const socket = appToken
    ? createSocketReceiver({ appToken, apiUrl, egress, logger, log, fetch: slackFetch })
    : undefined;
  const http = !socket && signingSecret ? createHttpReceiver({ signingSecret, egress, log, now }) : undefined;
  const metrics = createMetrics({
    inFlight: () => inFlight.count(),
    slackConnections: () => socket?.connected() ?? 0,
  });
  const receiver = socket ?? http;
  if (!receiver) throw new UserError('Neither SLACK_APP_TOKEN nor SLACK_SIGNING_SECRET is set.');

  const audit = createAudit({ db, now });
  const links = createKeyLinks({ db, now });
  const people = createPeople({
    adminIds: config.adminIds,
    client: async (workspace) => clients.interactive(await access.token(workspace)),
    now,
    log,
  });
  const digests = createDigestService({ db, audit, now, enqueue: queue.enqueue });
  // What runs for people stops with them: a feature that runs something adds its own line.
  const pauses: OffboardingHook[] = [
    async ({ person, tenant }) => (person ? links.close(person) : links.forgetTenant(tenant)),
    async ({ person, tenant }) => (person ? zoneCache.drop(person) : zoneCache.dropTenant(tenant)),
    (ended) => exports.endFor(ended),
    digests.pauses,
  ];
  const endings = createOffboarding(keyStore, pauses);
  const { publicUrl } = config.web;
  const policies = createPolicies({ db, audit, now });
  const draw = (chart: Chart): Promise<Uint8Array> => charts.draw(chart);
  const tempDirectory = join(config.store.dataDir, 'spool');
  const ledger: Ledger = { db, sealer, audit, now, enqueue: queue.enqueue };
  pauses.push(async (ended) => void (await cancelUnbegun(ledger, ended)));
  const ports = {
    ...createJobPorts({
      access,
      clients,
      keyStore,
      cdn,
      exportThread: () =>
        startExportThread({
          cdn: config.cdn,
          limits: options.exportLimits,
          directory: tempDirectory,
          now,
        }),
      policies,
      people,
      audit,
      ledger,
      apiUrl,
      draw,
      egress,
      log,
    }),
    checkpoints: createCheckpoints({ db, sealer, audit, policies, now }),
    enqueue: queue.enqueue,
    outbox: createOutbox({ enqueue: queue.enqueue, now }),
  };
  const exports = createExportService({ db, ports, log, now });
  const connectPage =
    publicUrl === undefined
      ? undefined
      : createConnectPage({
          publicUrl,
          links,
          keyStore,
          cdn,
          zoneCache,
          audit,
          tell: createDirectMessenger({ access, clients }),
          inFlight,
          log,
          now,
        });

  const bolt = createBolt({
    receiver,
    logger,
    apiUrl,
    access,
    clients,
    keyStore,
    cdn,
    keyPage: connectPage && ((person, shownFor) => connectPage.of(person, shownFor)),
    zoneCache,
    policies,
    people,
    audit,
    ledger,
    exports,
    digests,
    shouldRecordDenial: oncePerMinute(now),
    renderChart: draw,
    createFileScanner: () => egress.file(),
    tempDirectory,
    claim: createClaims(db, now),
    inFlight,
    metrics,
    log,
    now,
    fetch: egress.fetch('response_url', options.fetch),
    ends: {
      person: (...about) => endings.person(...about),
      team: (...about) => endings.team(...about),
      changed: (workspace, userId) => people(workspace).forget(userId),
      async uninstalled(workspace, cause) {
        await endings.tenant(tenantIdOfWorkspace(workspace), cause);
        await installations.remove({
          teamId: workspace.teamId,
          enterpriseId: workspace.enterpriseId,
          isEnterpriseInstall: workspace.isEnterpriseInstall,
        });
      },
    },
  });
  const web = createWeb({
    port: config.web.port,
    egress,
    log,
    metrics,
    events: http?.handle,
    installer: access.installer,
    connectPage,
    async unready() {
      const reasons: string[] = [];
      await database.ping().catch(() => reasons.push('the database does not answer'));
      if (socket && socket.connected() === 0) reasons.push('no connection to Slack');
      return reasons;
    },
  });

  return createLifecycle({
    role,
    log,
    database,
    keys,
    access,
    bolt,
    queue,
    startQueue: (work) => queue.start({ jobs, ports, work }),
    exports,
    web,
    receiver,
    inFlight,
    zoneCache,
    charts,
    transport: socket ? 'socket' : 'http',
    wantedPort: config.web.port,
    // Over Socket Mode, without pages, nobody has to reach these endpoints: a second bot on one laptop still works.
    endpointsNeeded: Boolean(http ?? access.installer ?? connectPage),
    release: options.release,
  });
}
