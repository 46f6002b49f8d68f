import { join } from 'node:path';
import { createCdn } from '../api/cdn.ts';
import { createAudit } from '../auth/audit/audit.ts';
import { type Installation, tenantId } from '../auth/identity.ts';
import { createInstallations } from '../auth/installations.ts';
import { createKeyStore } from '../auth/keys/key-store.ts';
import { createSealer } from '../auth/keys/sealing.ts';
import { createClientTokens, createKeyLinks } from '../auth/keys/tokens.ts';
import { createNames } from '../auth/names.ts';
import { createEndStore, createOffboarding } from '../auth/offboarding.ts';
import { createPolicies } from '../auth/policy/policies.ts';
import type { Doctor } from '../commands/define.ts';
import { createExportService } from '../commands/exports/exports.ts';
import { startExportThread } from '../commands/exports/worker/thread.ts';
import { cancelUnbegun } from '../commands/operations/execute.ts';
import { indexKinds } from '../commands/operations/kinds/kind.ts';
import { operationKinds } from '../commands/operations/kinds/list.ts';
import type { Ledger } from '../commands/operations/transitions.ts';
import { createAccountReads } from '../commands/reports/accounts.ts';
import { createPauseHook, createReports } from '../commands/reports/life.ts';
import { createSettingsHistory } from '../commands/zones/history.ts';
import { createZoneCache, createZoneLists } from '../commands/zones/zone-cache.ts';
import { UserError } from '../errors.ts';
import { tellFailures } from '../lib/network-failure.ts';
import { version } from '../lib/version.ts';
import { createOutbox } from '../outbox/outbox.ts';
import { createInstallationAccess, guardKeys } from '../slack/installations.ts';
import { createMcpEndpoint, createToolCalls, noteCdnRequest } from '../slack/mcp/endpoint.ts';
import { createPeople } from '../slack/people.ts';
import { createDeliver } from '../slack/receive/deliver.ts';
import { createHttpReceiver } from '../slack/receive/http-receiver.ts';
import { createInFlight } from '../slack/receive/in-flight.ts';
import type { SlackDeps } from '../slack/receive/perform.ts';
import { createSocketReceiver } from '../slack/receive/socket-receiver.ts';
import {
  createClients,
  createLibraryLog,
  createResponseUrls,
  createSlackClock,
  postMessage,
} from '../slack/send/clients.ts';
import { createEgress } from '../slack/send/egress.ts';
import { createJobPorts } from '../slack/send/job-ports.ts';
import { createNativeBlocks } from '../slack/send/native-blocks.ts';
import { createConnectPage } from '../slack/web/connect-page.ts';
import { createInstallPages } from '../slack/web/install.ts';
import { oncePerMinute, throttleLog } from '../slack/web/limits.ts';
import { createWeb } from '../slack/web/server.ts';
import { readBacklog } from '../store/backlog.ts';
import { claimOnce, type Database, releaseClaim } from '../store/database.ts';
import { createQueue } from '../store/queue.ts';
import type { Log } from '../telemetry/log.ts';
import { type Call, createMetrics } from '../telemetry/metrics.ts';
import { addCallSpan } from '../telemetry/tracing.ts';
import type { Config, Role } from './config.ts';
import { createReadiness, runChecks } from './doctor/checks.ts';
import { findChannels, type Subject } from './doctor/network.ts';
import { createDriftWatch } from './drift.ts';
import { jobs, repairSchedules } from './jobs.ts';
import { openKeyringService } from './keyring-service.ts';

export interface Base {
  readonly config: Config;
  readonly log: Log;
  readonly fetch: typeof globalThis.fetch;
  readonly cdnFetch?: typeof globalThis.fetch;
  readonly now: () => Date;
}

export type ChatApp = Awaited<ReturnType<typeof wire>>;

// Kubernetes and Heroku kill after thirty seconds; aborted work still has to answer.
const graceMs = 15_000;

/** Wires the app: stores, services, features, edges, each made of the ones before. Starts nothing but the migrations. */
export async function wire(base: Base, role: Role, database: Database, release: () => Promise<void>) {
  const { config, log, now } = base;
  const { panel } = config;
  const { apiUrl, appToken, signingSecret, installing } = config.slack;
  const { publicUrl } = config.web;
  const { db } = database;
  const manyTenants = installing.kind === 'oauth';

  // Stores: everything that owns rows. The queue takes jobs from here on and runs them when it starts.
  await database.migrate();
  const queue = createQueue({ database, log, now, manyTenants });
  const { enqueue } = queue;
  const keyring = await openKeyringService(config, database, log);
  const sealer = createSealer(keyring.keyring);
  const audit = createAudit({ db, now });
  const outbox = createOutbox({ enqueue, now });
  const installations = createInstallations({
    db,
    sealer,
    now,
    onStored: (_tenant, options) => repairSchedules(enqueue, options),
  });
  const links = createKeyLinks({ db, sealer, now });
  const clientTokens = createClientTokens({ db, now });
  const names = createNames({ db, audit, now });

  // Slack and the CDN. Every way out goes through one egress, which lets keys and tokens out to their own origins only.
  const metrics = createMetrics();
  const egress = createEgress({ log });
  const clock = createSlackClock({ apiUrl, fetch: base.fetch, now });
  const logger = createLibraryLog(log);
  const slackFetch = egress.fetch('slack', tellFailures(clock.fetch), {
    origins: [new URL(apiUrl).origin],
    header: 'authorization',
    body: ({ pathname }) => pathname.endsWith('/oauth.v2.access'),
  });
  const access = createInstallationAccess({
    installing,
    apiUrl,
    logger,
    installations,
    publicUrl,
    fetch: slackFetch,
  });
  const keyStore = guardKeys(createKeyStore({ db, sealer, now, audit }), access);
  const native = createNativeBlocks({ log, now, onRefused: metrics.nativeBlocksRefused });
  const sendNativeBlocks = native.send;
  const observe =
    (service: 'CDN' | 'Slack', count: (call: Call) => void) =>
    (call: Call): void => {
      const { name, outcome, status, seconds } = call;
      count(call);
      addCallSpan(service, call);
      const done = { outcome, status, ms: Math.round(seconds * 1000) };
      if (service === 'CDN') log.debug({ operation: name, ...done }, 'CDN request');
      else log.debug({ method: name, ...done }, 'Slack call');
    };
  const [onCall, onAttempt] = [observe('Slack', metrics.slackCall), observe('CDN', metrics.cdnRequest)];
  const clients = createClients({ apiUrl, logger, egress, sendNativeBlocks, onCall, fetch: clock.fetch });
  const drift = createDriftWatch({ log, now, count: metrics.cdnDrift });
  const cdnFetch = egress.fetch('cdn', base.cdnFetch ?? base.fetch, {
    origins: [config.cdn.apiUrl, config.cdn.originLoggingUrl].map((url) => new URL(url).origin),
    header: 'accesskey',
    body: () => true,
  });
  const cdn = createCdn({
    ...config.cdn,
    fetch(input, init) {
      noteCdnRequest();
      return cdnFetch(input, init);
    },
    now: () => now().getTime(),
    onAttempt,
    onDrift: (found) => drift.report(found),
  });
  const people = createPeople({
    adminIds: config.adminIds,
    client: async (place) => clients.interactive(await access.token(place), tenantId(place)),
    now,
    log,
  });
  const zoneLists = createZoneLists({ now });
  const zoneCache = createZoneCache({ now, lists: zoneLists });
  const inFlight = createInFlight({ manyTenants });
  const stores = { database, db, queue, enqueue, outbox, sealer, audit, names };
  const rows = { ...stores, installations, keyStore, links, clientTokens };
  const ways = { apiUrl, egress, logger, slackFetch, access, clients, clock, cdn };
  const readers = { metrics, onAttempt, drift, people, zoneLists, zoneCache, inFlight, native };
  const parts = {
    ...base,
    ...rows,
    ...ways,
    ...readers,
    settingsHistory: createSettingsHistory(db, sealer, now),
    policies: createPolicies({ db, audit, now }),
    postToResponseUrl: createResponseUrls({ egress, apiUrl, onCall, sendNativeBlocks }),
  };

  // Features: the engines, and the ports that their jobs reach Slack and the CDN with.
  const tempDirectory = join(config.store.dataDir, 'spool');
  const accounts = createAccountReads(parts);
  const ledger: Ledger = {
    ...rows,
    now,
    kinds: indexKinds(operationKinds),
    onTransition: metrics.operationMoved,
    onRefused: metrics.refused,
  };
  const exportThread = () => startExportThread({ cdn: config.cdn, directory: tempDirectory, onAttempt, now });
  const ports = { ...createJobPorts({ ...parts, exportThread, ledger }), accounts, enqueue, outbox };
  const exports = createExportService({ db, ports, now });
  const features = {
    tempDirectory,
    accounts,
    ledger,
    exports,
    reports: createReports({ ...ports, db, now }),
    doctor: {
      retryNativeBlocks: async (person) => native.forget(tenantId(person)),
      async examine(person) {
        const token = await access.token(person);
        const channels = await findChannels(database, tenantId(person));
        return runChecks('command', {
          ...parts,
          workspace: { token, channels },
          key: (await keyStore.reveal(person))?.key,
        });
      },
    } satisfies Doctor,
    ports: {
      ...ports,
      endAccess: createOffboarding({
        ...rows,
        log,
        hooks: [
          async ({ person, tenant }) => (person ? zoneCache.drop(person) : zoneCache.dropTenant(tenant)),
          accounts.drop,
          (ended) => names.forget(ended),
          (ended) => exports.endFor(ended),
          createPauseHook({ ...ports, db, now }),
          async (ended) => void (await cancelUnbegun(ledger, ended)),
        ],
      }),
    },
  };

  // Edges: Slack's deliveries over a socket or HTTP, the connect page, health and metrics.
  const connectPage =
    publicUrl === undefined
      ? undefined
      : createConnectPage({
          ...parts,
          panel,
          publicUrl,
          async tell(person, message) {
            const token = await access.token(person);
            await postMessage(clients.interactive(token, tenantId(person)), person.userId, message);
          },
        });
  const slack: SlackDeps = {
    ...parts,
    ...features,
    keyPage: connectPage && ((person, shownFor) => connectPage.of(person, shownFor)),
    shouldRecord: oncePerMinute(now),
    throttledLog: throttleLog(log, now),
    claimOnce: (id) => claimOnce(db, id, now()),
    release: (id) => releaseClaim(db, id),
    panel,
  };
  const ends = {
    store: createEndStore(db, enqueue, now),
    changed: (place: Installation, userId: string) => people(place).forget(userId),
  };
  const edge = { deliver: createDeliver({ ...slack, ends, logger }), log };
  const socket = appToken
    ? createSocketReceiver({ ...edge, appToken, apiUrl, logger, fetch: slackFetch })
    : undefined;
  const http = !socket && signingSecret ? createHttpReceiver({ ...edge, signingSecret, now }) : undefined;
  if (!socket && !http) throw new UserError('Neither SLACK_APP_TOKEN nor SLACK_SIGNING_SECRET is set.');
  const answersSlack = role !== 'worker';
  const slackConnections = () => (answersSlack ? socket?.connected() : undefined);
  const tools =
    signingSecret && publicUrl !== undefined
      ? createMcpEndpoint({ signingSecret, clientTokens, log, now, call: createToolCalls(slack) })
      : undefined;

  const findStoreProblem = async (): Promise<string | undefined> => {
    try {
      await database.ping();
      return await keyring.findProblem();
    } catch (error) {
      return error instanceof UserError ? error.message : 'the database does not answer';
    }
  };
  let asking: Promise<string | undefined> | undefined;
  const subject: Subject = {
    ...parts,
    running: {
      verifyToken: () => access.verify(),
      // A question that is still unanswered is not asked again: it would only make a slow database slower.
      findStoreProblem: () =>
        (asking ??= findStoreProblem().finally(() => {
          asking = undefined;
        })),
      slackConnections,
      findSlackProblem: () => socket?.problem(),
      findSkew: async () => (answersSlack ? clock.refresh() : undefined),
    },
  };
  const web = createWeb({
    ...config.web,
    // Slack reaches the port of signed HTTP from outside, with or without a public URL.
    isPublic: publicUrl !== undefined || http !== undefined,
    egress,
    log,
    metrics: {
      contentType: metrics.contentType,
      render: async () =>
        metrics.render({
          ...(await readBacklog(db, now())),
          in_flight: inFlight.count(),
          slack_connections: slackConnections(),
          clock_skew_seconds: clock.skew(),
          database_connections_in_use: database.poolUse().inUse,
          database_waiting: database.poolUse().waiting,
        }),
    },
    events: http,
    tools,
    install: access.installer && createInstallPages(access.installer, publicUrl, base),
    connectPage,
    unready: createReadiness(subject),
  });

  let port: number | undefined;
  let stopping: Promise<void> | undefined;
  const open = async (): Promise<void> => {
    // Work that was due while nothing ran starts now, not with the next minute.
    if (role !== 'web') await repairSchedules(enqueue);
    if (answersSlack) {
      port = await web.listen();
      await socket?.start();
    } else await web.listenForOperator();
    const transport = socket ? 'socket' : 'http';
    log.info({ version, role, port, transport, store: database.engine }, 'ready');
  };
  const stopAll = async (): Promise<void> => {
    // No new deliveries first, so that the number of those under way only falls.
    await socket?.stop();
    await web.close(inFlight.drain(graceMs));
    await queue.stop();
    await keyring.stop();
    await database.close();
    await release();
  };
  return {
    port: () => port,
    /** For a Slack that takes charts and tables again. */
    retryNativeBlocks: (): void => native.forget(),
    /** Resolves when its embedded database has ended by itself. */
    ended: database.ended,
    /** @throws UserError with the reason where it cannot serve. */
    async start() {
      keyring.start();
      if (answersSlack) {
        for (const { state, says, fix } of await runChecks('start', subject))
          if (state === 'failed') throw new UserError(`The bot cannot start: ${says}.`, fix);
      }
      // People are answered before the first jobs are looked for, which are a query each and more.
      await queue.start({ jobs, ports: features.ports, work: role !== 'web', onConnected: open });
    },
    /** Stops taking deliveries, waits for running work, closes the stores. May be called twice. */
    stop: () => (stopping ??= stopAll()),
  };
}
