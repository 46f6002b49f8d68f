import { type Cdn, createCdn } from '../api/cdn.ts';
import type { Installations } from '../auth/installations.ts';
import { createInstallationAccess, type InstallationAccess } from '../slack/installations.ts';
import type { createBoltLog } from '../slack/receive/bolt.ts';
import { type Clients, createClients } from '../slack/send/clients.ts';
import { createEgress, type Egress } from '../slack/send/egress.ts';
import type { Log } from '../telemetry/log.ts';
import type { Config } from './config.ts';

interface Options {
  readonly config: Config;
  readonly log: Log;
  readonly logger: ReturnType<typeof createBoltLog>;
  readonly installations: Installations;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => Date;
}

/** Every way out of the process. All of them go through one egress, which lets secrets out to their own origins only. */
export interface Outbound {
  readonly egress: Egress;
  readonly slackFetch: typeof globalThis.fetch;
  readonly access: InstallationAccess;
  readonly clients: Clients;
  readonly cdn: Cdn;
}

/** Makes them, and asks nothing yet. */
export function createOutbound({ config, log, logger, installations, fetch, now }: Options): Outbound {
  const { apiUrl, installing } = config.slack;
  const egress = createEgress({ log });
  // Keys and tokens travel in one header, to these origins; the client secret to one method.
  const toSlack = {
    origins: [new URL(apiUrl).origin],
    header: 'authorization',
    body: ({ pathname }: URL) => pathname.endsWith('/oauth.v2.access'),
  };
  const toCdn = {
    origins: [config.cdn.apiUrl, config.cdn.originLoggingUrl].map((url) => new URL(url).origin),
    header: 'accesskey',
    // The value of a variable is sent where the variable is.
    body: () => true,
  };
  const slackFetch = egress.fetch('slack', fetch, toSlack);
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
  const clients = createClients({ apiUrl, logger, egress, fetch });
  const cdn = createCdn({
    ...config.cdn,
    fetch: egress.fetch('cdn', fetch, toCdn),
    now: () => now().getTime(),
  });
  return { egress, slackFetch, access, clients, cdn };
}
