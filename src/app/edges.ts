import { createDeliveryClaims } from '../auth/claims.ts';
import { type Person, tenantId } from '../auth/identity.ts';
import { createEndStore } from '../auth/offboarding.ts';
import { isReadOnly, UserError } from '../errors.ts';
import { createToolCalls } from '../slack/mcp/call.ts';
import { createMcpEndpoint } from '../slack/mcp/endpoint.ts';
import { createBolt } from '../slack/receive/bolt.ts';
import { createHttpReceiver } from '../slack/receive/http-receiver.ts';
import type { LifecycleHandlers } from '../slack/receive/lifecycle-events.ts';
import type { SlackDeps } from '../slack/receive/perform.ts';
import { createSocketReceiver } from '../slack/receive/socket-receiver.ts';
import { postMessage } from '../slack/send/clients.ts';
import { workspaceOf } from '../slack/sender.ts';
import { createConnectPage } from '../slack/web/connect-page.ts';
import { createInstallPages } from '../slack/web/install.ts';
import { oncePerMinute } from '../slack/web/limits.ts';
import { createWeb } from '../slack/web/server.ts';
import { createBacklogReader } from '../store/backlog.ts';
import { createClaims, createReleases } from '../store/deliveries.ts';
import type { GaugeSources } from '../telemetry/metrics.ts';
import type { Message } from '../views/blocks/blocks.ts';
import type { Role } from './config.ts';
import { createReadiness, runChecks } from './doctor/checks.ts';
import type { Subject } from './doctor/subject.ts';
import type { Features } from './features.ts';
import type { Services } from './services.ts';
import type { Base, Stores } from './stores.ts';

export type Edges = ReturnType<typeof createEdges>;

/** Last stage: Slack's deliveries over a socket or HTTP, the connect page, health and metrics. */
export function createEdges(base: Base, role: Role, stores: Stores, services: Services, features: Features) {
  const { config, log, now } = base;
  const { access, clients, clock, egress, inFlight, logger, metrics, slackFetch } = services;
  const { database } = stores;
  const { apiUrl, appToken, signingSecret } = config.slack;
  const { publicUrl } = config.web;

  const socket = appToken
    ? createSocketReceiver({ appToken, apiUrl, egress, logger, log, fetch: slackFetch })
    : undefined;
  const http = !socket && signingSecret ? createHttpReceiver({ signingSecret, egress, log, now }) : undefined;
  const receiver = socket ?? http;
  if (!receiver) throw new UserError('Neither SLACK_APP_TOKEN nor SLACK_SIGNING_SECRET is set.');
  const slackConnections = () => (role === 'worker' ? undefined : socket?.connected());
  const gauges: GaugeSources = {
    inFlight: () => inFlight.count(),
    slackConnections,
    clockSkew: clock.skew,
    pool: database.poolUse,
    backlog: createBacklogReader(database.db, now),
  };

  const tell = async (person: Person, message: Message): Promise<void> => {
    const token = await access.token(workspaceOf(person));
    await postMessage(clients.interactive(token, tenantId(person)), person.userId, message);
  };
  const assertInstalled = async (person: Person): Promise<void> =>
    void (await access.token(workspaceOf(person)));
  const connectPage =
    publicUrl === undefined
      ? undefined
      : createConnectPage({ ...stores, ...services, publicUrl, tell, assertInstalled, log, now });

  const ends: LifecycleHandlers = {
    store: createEndStore(stores.database.db, stores.queue.enqueue, now),
    changed: (workspace, userId) => services.people(workspace).forget(userId),
  };
  const slack: SlackDeps = {
    ...stores,
    ...services,
    ...features,
    keyPage: connectPage && ((person, shownFor) => connectPage.of(person, shownFor)),
    createFileScanner: () => egress.file(),
    shouldRecordDenial: oncePerMinute(now),
    claim: createDeliveryClaims({ db: stores.database.db, keyStore: stores.keyStore, now }),
    claimOnce: createClaims(stores.database.db, now),
    release: createReleases(stores.database.db),
    metrics,
    log,
    now,
    panel: config.panel,
  };
  const bolt = createBolt({ ...services, ...slack, receiver, ends });
  const tools =
    signingSecret && publicUrl !== undefined
      ? createMcpEndpoint({ signingSecret, call: createToolCalls({ ...slack, egress }), log, now })
      : undefined;

  let asking: Promise<string | undefined> | undefined;
  const subject: Subject = {
    ...base,
    ...services,
    database,
    running: {
      verifyToken: () => access.verify(),
      // A question that is still unanswered is not asked again: it would only make a slow database slower.
      findStoreProblem: () =>
        (asking ??= findStoreProblem(stores).finally(() => {
          asking = undefined;
        })),
      slackConnections,
      findSlackProblem: () => socket?.problem(),
      findSkew: async () => (role === 'worker' ? undefined : clock.refresh()),
    },
  };
  const web = createWeb({
    ...config.web,
    // Slack reaches the port of signed HTTP from outside, with or without a public URL.
    isPublic: publicUrl !== undefined || http !== undefined,
    egress,
    log,
    metrics: { contentType: metrics.contentType, render: () => metrics.render(gauges) },
    events: http?.handle,
    tools,
    install: access.installer && createInstallPages(access.installer, publicUrl, base),
    connectPage,
    unready: createReadiness(subject),
  });
  return {
    /** Throws the reason why the bot cannot work. */
    check: async (): Promise<void> => {
      for (const { state, says, fix } of await runChecks('start', subject))
        if (state === 'failed') throw new UserError(`The bot cannot start: ${says}.`, fix);
    },
    receiver,
    bolt,
    web,
    transport: socket ? 'socket' : 'http',
    /** False over Socket Mode without pages: the endpoints need not be reachable, so a second bot on one machine works. */
    endpointsNeeded: Boolean(http ?? access.installer ?? connectPage),
  };
}

async function findStoreProblem({ database, keyring }: Stores): Promise<string | undefined> {
  try {
    await database.ping();
    return await keyring.findProblem();
  } catch (error) {
    return isReadOnly(error) ? 'the database takes no writes' : 'the database does not answer';
  }
}
