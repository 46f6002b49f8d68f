import { join } from 'node:path';
import { createAudit } from './auth/audit.ts';
import { createCheckpoints } from './auth/checkpoints.ts';
import { createEndings, type Pause } from './auth/endings.ts';
import { createInstallations } from './auth/installations.ts';
import { createKeyLinks } from './auth/key-links.ts';
import { createCustody } from './auth/keys.ts';
import { createOperations } from './auth/operations.ts';
import { createPolicies } from './auth/policies.ts';
import { createSealer } from './auth/sealing.ts';
import type { Chart } from './charts/chart.ts';
import { createCharts } from './charts/charts.ts';
import { createSnapshots } from './commands/snapshots.ts';
import type { Config } from './config.ts';
import { UserError } from './errors.ts';
import { holdConfig } from './held-secrets.ts';
import { createDigests } from './jobs/digest-book.ts';
import { digestsReturned } from './jobs/digest-return.ts';
import { type ExportLimits, exportLimits as slackLimits } from './jobs/export-files.ts';
import { createExports } from './jobs/exports.ts';
import { showOperation } from './jobs/operation-messages.ts';
import { runOperation } from './jobs/operation-run.ts';
import { createQueue } from './jobs/queue.ts';
import { jobs } from './jobs/registry.ts';
import { type ChatApp, createLifecycle, type Role } from './lifecycle.ts';
import type { Log } from './log.ts';
import { openKeys } from './open-keys.ts';
import { createOutgoing } from './outgoing.ts';
import { oncePerMinute } from './slack/admission.ts';
import { createBolt } from './slack/bolt.ts';
import { boltLog } from './slack/bolt-log.ts';
import { createConnectPage } from './slack/connect-page.ts';
import { createTell } from './slack/direct-message.ts';
import { createInFlight } from './slack/in-flight.ts';
import { createJobPorts } from './slack/job-ports.ts';
import { createMetrics } from './slack/metrics.ts';
import { createPeople } from './slack/people.ts';
import { createHttpReceiver } from './slack/receiver-http.ts';
import { createSocketReceiver } from './slack/receiver-socket.ts';
import { tenantOfWorkspace } from './slack/sender.ts';
import { createWeb } from './slack/server.ts';
import { type Database, openDatabase } from './store/database.ts';
import { createClaims } from './store/deliveries.ts';
import { startTransfer } from './transfer/transfer.ts';

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
  const release = holdConfig(config);
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
  const keys = await openKeys({ config, database, log });
  const sealer = createSealer(keys.keyring);
  const custody = createCustody({ db, sealer, now });
  const installations = createInstallations({
    db,
    sealer,
    now,
    withLock: database.withLock,
    async stored(tenant, options) {
      await queue.enqueue(digestsReturned, { tenant }, options);
    },
  });
  const snapshots = createSnapshots({ now });
  const charts = createCharts();
  const logger = boltLog(log);
  const { egress, slackFetch, access, clients, cdn, cdnThrough } = createOutgoing({
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
  const digests = createDigests({ db, audit, now, enqueue: (...about) => queue.enqueue(...about) });
  // What runs for people stops with them: a feature that runs something adds its own line.
  const pauses: Pause[] = [
    async ({ person, tenant }) => (person ? links.close(person) : links.forgetTenant(tenant)),
    async ({ person, tenant }) => (person ? snapshots.drop(person) : snapshots.dropTenant(tenant)),
    (ended) => exports.endFor(ended),
    digests.pauses,
  ];
  const endings = createEndings({ db, custody, pauses });
  const { publicUrl } = config.web;
  const policies = createPolicies({ db, audit, now });
  const draw = (chart: Chart): Promise<Uint8Array> => charts.draw(chart);
  const inspectFile = (): ReturnType<typeof egress.file> => egress.file();
  const spoolDirectory = join(config.store.dataDir, 'spool');
  const operations = createOperations({
    db,
    sealer,
    audit,
    now,
    async enqueue({ tenant, id }, options) {
      await queue.enqueue(runOperation, { tenant, id }, options);
    },
    async follow({ tenant, id, state, approvals }, options) {
      // Only the first move posts; the others change what is there.
      const first = state === 'proposed' && approvals.length === 0;
      await queue.enqueue(showOperation, { tenant, id, first }, options);
    },
  });
  pauses.push(async (ended) => void (await operations.stop(ended)));
  const ports = createJobPorts({
    access,
    clients,
    custody,
    cdn,
    cdnThrough,
    // A way to the network that was handed in is the only one there is.
    transfer: () =>
      options.fetch === globalThis.fetch ? startTransfer() : { ...startTransfer(), fetch: options.fetch },
    policies,
    people,
    audit,
    operations,
    checkpoints: createCheckpoints({ db, sealer, audit, policies, now }),
    enqueue: (...about) => queue.enqueue(...about),
    apiUrl,
    draw,
    inspectFile,
    spoolDirectory,
    exportLimits: options.exportLimits,
    log,
  });
  const queue = createQueue({ database, log, jobs, now, ports });
  const exports = createExports({ db, ports, log, now });
  const connectPage =
    publicUrl === undefined
      ? undefined
      : createConnectPage({
          publicUrl,
          links,
          custody,
          cdn,
          snapshots,
          audit,
          tell: createTell({ access, clients }),
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
    custody,
    cdn,
    keyPage: connectPage && ((person, shownFor) => connectPage.of(person, shownFor)),
    snapshots,
    policies,
    people,
    audit,
    operations,
    exports,
    digests,
    deniedOnce: oncePerMinute(now),
    draw,
    inspectFile,
    spoolDirectory,
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
        await endings.tenant(tenantOfWorkspace(workspace), cause);
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
    exports,
    web,
    receiver,
    inFlight,
    snapshots,
    charts,
    transport: socket ? 'socket' : 'http',
    wantedPort: config.web.port,
    // Over Socket Mode, without pages, nobody has to reach these endpoints: a second bot on one laptop still works.
    endpointsNeeded: Boolean(http ?? access.installer ?? connectPage),
    release: options.release,
  });
}
