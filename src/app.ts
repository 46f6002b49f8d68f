import { join } from 'node:path';
import { createCdn } from './api/cdn.ts';
import { createInstallations } from './auth/installations.ts';
import { readKeyring } from './auth/keyring.ts';
import { createCustody } from './auth/keys.ts';
import { createSealer } from './auth/sealing.ts';
import { createCharts } from './charts/charts.ts';
import { createSnapshots } from './commands/snapshots.ts';
import type { Config } from './config.ts';
import { UserError } from './errors.ts';
import { createQueue } from './jobs/queue.ts';
import { jobs } from './jobs/registry.ts';
import type { Log } from './log.ts';
import { createAccess } from './slack/access.ts';
import { createBolt } from './slack/bolt.ts';
import { boltLog } from './slack/bolt-log.ts';
import { createClients } from './slack/clients.ts';
import { createInFlight } from './slack/in-flight.ts';
import { createMetrics } from './slack/metrics.ts';
import { createHttpReceiver } from './slack/receiver-http.ts';
import { createSocketReceiver } from './slack/receiver-socket.ts';
import { tenantOfWorkspace } from './slack/sender.ts';
import { createWeb } from './slack/server.ts';
import { type Database, openDatabase } from './store/database.ts';
import { claimDelivery } from './store/deliveries.ts';

/** `web` answers Slack, `worker` runs jobs, `all` does both. */
export type Role = 'web' | 'worker' | 'all';

export interface AppOptions {
  readonly config: Config;
  readonly log: Log;
  readonly role?: Role;
  readonly fetch?: typeof globalThis.fetch;
  readonly now?: () => Date;
}

export interface ChatApp {
  /** Resolves when the bot can serve. @throws UserError with the reason where it cannot. */
  start(): Promise<void>;
  /** Stops taking deliveries, waits for what runs, closes the stores. May be called twice. */
  stop(): Promise<void>;
  /** Where its HTTP endpoints are, once started. */
  readonly port: () => number | undefined;
}

// Kubernetes and Heroku kill after thirty seconds; work that is told to end still has to answer.
const graceMs = 15_000;

/** Wires everything and starts nothing but the database, which the wiring needs. */
export async function buildApp(options: AppOptions): Promise<ChatApp> {
  const { config, log, role = 'all', fetch = globalThis.fetch, now = () => new Date() } = options;
  const database = await openDatabase({ ...config.store, log });
  try {
    return await wire({ config, log, role, fetch, now, database });
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function wire(options: Required<AppOptions> & { database: Database }): Promise<ChatApp> {
  const { config, log, role, fetch, now, database } = options;
  await database.migrate();
  const { keyring, created, warning } = await readKeyring({
    ...config.keyring,
    createIn: config.store.databaseUrl ? undefined : config.store.dataDir,
  });
  if (warning) log.warn({}, warning);
  if (created)
    log.warn(
      { file: created },
      'made a new encryption key: back this file up, without it no linked key opens',
    );

  const { db } = database;
  const sealer = createSealer(keyring);
  const custody = createCustody({ db, sealer, now });
  const installations = createInstallations({ db, sealer, now, withLock: database.withLock });
  const snapshots = createSnapshots({ now });
  const charts = createCharts();
  const logger = boltLog(log);
  const { apiUrl, appToken, signingSecret, installing } = config.slack;
  const access = createAccess({
    installing,
    apiUrl,
    logger,
    installations,
    exclusively: installations.withRefreshLock,
    publicUrl: config.web.publicUrl,
    fetch,
    now,
  });
  const clients = createClients({ apiUrl, logger, fetch });
  const inFlight = createInFlight();
  const socket = appToken ? createSocketReceiver({ appToken, apiUrl, logger, log, fetch }) : undefined;
  const http = !socket && signingSecret ? createHttpReceiver({ signingSecret, log, now }) : undefined;
  const metrics = createMetrics({
    inFlight: () => inFlight.count(),
    slackConnections: () => socket?.connected() ?? 0,
  });
  const receiver = socket ?? http;
  if (!receiver) throw new UserError('Neither SLACK_APP_TOKEN nor SLACK_SIGNING_SECRET is set.');

  const bolt = createBolt({
    receiver,
    logger,
    apiUrl,
    access,
    clients,
    custody,
    cdn: createCdn({ ...config.cdn, fetch, now: () => now().getTime() }),
    snapshots,
    spoolDirectory: join(config.store.dataDir, 'spool'),
    claim: (id) => claimDelivery(db, id, now()),
    inFlight,
    metrics,
    log,
    now,
    fetch,
    draw: charts.draw,
    async uninstalled(workspace) {
      await custody.forgetTenant(tenantOfWorkspace(workspace));
      await installations.remove({
        teamId: workspace.teamId,
        enterpriseId: workspace.enterpriseId,
        isEnterpriseInstall: workspace.isEnterpriseInstall,
      });
    },
  });
  const web = createWeb({
    port: config.web.port,
    log,
    metrics,
    events: http?.handle,
    installer: access.installer,
    async unready() {
      const reasons: string[] = [];
      await database.ping().catch(() => reasons.push('the database does not answer'));
      if (socket && socket.connected() === 0) reasons.push('no connection to Slack');
      return reasons;
    },
  });
  const queue = createQueue({ database, log, jobs, ports: {}, now });

  let port: number | undefined;
  let stopping: Promise<void> | undefined;
  const answersSlack = role !== 'worker';
  return {
    port: () => port,
    async start() {
      if (answersSlack) {
        await access.verify();
        await bolt.init();
      }
      // Before anybody is answered: starting it keeps the embedded database, and with it this thread, busy.
      await queue.start({ work: role !== 'web' });
      if (answersSlack) {
        port = await web.listen().catch((error: unknown) => {
          // Over Socket Mode nobody has to reach these endpoints: a second bot on one laptop still works.
          if (http || access.installer || !(error instanceof UserError)) throw error;
          log.warn({ port: config.web.port }, 'no HTTP endpoints: the port is taken; set PORT to a free one');
          return undefined;
        });
        await bolt.start();
      }
      log.info({ role, port, transport: socket ? 'socket' : 'http', store: database.engine }, 'ready');
    },
    stop() {
      stopping ??= (async () => {
        // No new deliveries first, so that the count of those under way can only fall.
        await receiver.stop();
        await web.close();
        await inFlight.drain(graceMs);
        await charts.close();
        await queue.stop();
        await database.close();
      })();
      return stopping;
    },
  };
}
