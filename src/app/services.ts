import { createCdn } from '../api/cdn.ts';
import { createZoneCache, createZoneLists } from '../commands/zones/zone-cache.ts';
import { createSlackClock } from '../slack/clock.ts';
import { createInstallationAccess } from '../slack/installations.ts';
import { createPeople } from '../slack/people.ts';
import { createBoltLog } from '../slack/receive/bolt.ts';
import { createInFlight } from '../slack/receive/in-flight.ts';
import { createClients } from '../slack/send/clients.ts';
import { createEgress } from '../slack/send/egress.ts';
import { createNativeBlocks } from '../slack/send/native-blocks.ts';
import { createResponseUrls } from '../slack/send/response-url.ts';
import { tenantIdOfWorkspace } from '../slack/sender.ts';
import { type Call, createMetrics } from '../telemetry/metrics.ts';
import { addCallSpan } from '../telemetry/spans.ts';
import { createDriftWatch } from './drift.ts';
import type { Base, Stores } from './stores.ts';

export type Services = ReturnType<typeof createServices>;

/**
 * Second stage: Slack, the CDN and what is read from them. Every way out of the process goes through one egress, which
 * lets keys and tokens out to their own origins only.
 */
export function createServices(base: Base, { installations, nativeSupport }: Stores) {
  const { config, log, now } = base;
  const { apiUrl, installing } = config.slack;
  const metrics = createMetrics();
  const egress = createEgress({ log });
  const clock = createSlackClock({ apiUrl, fetch: base.fetch, now });
  const logger = createBoltLog(log);
  const slackFetch = egress.fetch('slack', clock.fetch, {
    origins: [new URL(apiUrl).origin],
    header: 'authorization',
    // The client secret.
    body: ({ pathname }) => pathname.endsWith('/oauth.v2.access'),
  });
  const access = createInstallationAccess({
    installing,
    apiUrl,
    logger,
    installations,
    exclusively: installations.withRefreshLock,
    publicUrl: config.web.publicUrl,
    fetch: slackFetch,
    now,
  });
  const sendNativeBlocks = createNativeBlocks({
    log,
    support: nativeSupport,
    onRefused: metrics.nativeBlocksRefused,
  });
  const onCall = (call: Call): void => {
    metrics.slackCall(call);
    addCallSpan('Slack', call);
    log.debug({ method: call.name, ...describeCall(call) }, 'Slack call');
  };
  const { fetch } = clock;
  const clients = createClients({ apiUrl, logger, egress, sendNativeBlocks, onCall, fetch });
  const onAttempt = (attempt: Call): void => {
    metrics.cdnRequest(attempt);
    addCallSpan('CDN', attempt);
    log.debug({ operation: attempt.name, ...describeCall(attempt) }, 'CDN request');
  };
  const cdnFetch = egress.fetch('cdn', base.cdnFetch ?? base.fetch, {
    origins: [config.cdn.apiUrl, config.cdn.originLoggingUrl].map((url) => new URL(url).origin),
    header: 'accesskey',
    // The value of a variable.
    body: () => true,
  });
  const drift = createDriftWatch({ log, now, count: metrics.cdnDrift });
  const zoneLists = createZoneLists({ now });
  return {
    apiUrl,
    egress,
    logger,
    slackFetch,
    access,
    clients,
    sendNativeBlocks,
    metrics,
    clock,
    onAttempt,
    postToResponseUrl: createResponseUrls(egress, { apiUrl, onCall }),
    drift,
    cdn: createCdn({
      ...config.cdn,
      fetch: cdnFetch,
      now: () => now().getTime(),
      onAttempt,
      onDrift: (found) => drift.report(found),
    }),
    people: createPeople({
      adminIds: config.adminIds,
      client: async (workspace) =>
        clients.interactive(await access.token(workspace), tenantIdOfWorkspace(workspace)),
      now,
      log,
    }),
    zoneLists,
    zoneCache: createZoneCache({ now, lists: zoneLists }),
    inFlight: createInFlight({ manyTenants: installing.kind === 'oauth' }),
  };
}

function describeCall({ outcome, status, seconds }: Call): object {
  return { outcome, status, ms: Math.round(seconds * 1000) };
}
