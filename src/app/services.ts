import { createCdn } from '../api/cdn.ts';
import { createZoneCache } from '../commands/zones/zone-cache.ts';
import { createInstallationAccess } from '../slack/installations.ts';
import { createPeople } from '../slack/people.ts';
import { createBoltLog } from '../slack/receive/bolt.ts';
import { createInFlight } from '../slack/receive/in-flight.ts';
import { createClients } from '../slack/send/clients.ts';
import { createEgress } from '../slack/send/egress.ts';
import { createNativeBlocks } from '../slack/send/native-blocks.ts';
import type { Base, Stores } from './stores.ts';

export type Services = ReturnType<typeof createServices>;

/**
 * Second stage: Slack, the CDN and what is read from them. Every way out of the process goes through one egress, which
 * lets keys and tokens out to their own origins only.
 */
export function createServices({ config, log, fetch, now }: Base, { installations }: Stores) {
  const { apiUrl, installing } = config.slack;
  const egress = createEgress({ log });
  const logger = createBoltLog(log);
  const slackFetch = egress.fetch('slack', fetch, {
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
  const sendNativeBlocks = createNativeBlocks({ log, now });
  const clients = createClients({ apiUrl, logger, egress, sendNativeBlocks, fetch });
  const cdnFetch = egress.fetch('cdn', fetch, {
    origins: [config.cdn.apiUrl, config.cdn.originLoggingUrl].map((url) => new URL(url).origin),
    header: 'accesskey',
    // The value of a variable.
    body: () => true,
  });
  return {
    apiUrl,
    egress,
    logger,
    slackFetch,
    access,
    clients,
    sendNativeBlocks,
    cdn: createCdn({ ...config.cdn, fetch: cdnFetch, now: () => now().getTime() }),
    people: createPeople({
      adminIds: config.adminIds,
      client: async (workspace) => clients.interactive(await access.token(workspace)),
      now,
      log,
    }),
    zoneCache: createZoneCache({ now }),
    inFlight: createInFlight(),
  };
}
