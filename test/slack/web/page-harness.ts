import { createServer } from 'node:http';
import { startCdn } from '../../../simulator/cdn/server.ts';
import { createCdn } from '../../../src/api/cdn.ts';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import type { Person } from '../../../src/auth/identity.ts';
import { createInstallations } from '../../../src/auth/installations.ts';
import { createKeyStore } from '../../../src/auth/keys/key-store.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import { createClientTokens, createKeyLinks } from '../../../src/auth/keys/tokens.ts';
import { createZoneCache } from '../../../src/commands/zones/zone-cache.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createInstallationAccess, guardKeys } from '../../../src/slack/installations.ts';
import { createInFlight } from '../../../src/slack/receive/in-flight.ts';
import { createLibraryLog } from '../../../src/slack/send/clients.ts';
import { createConnectPage } from '../../../src/slack/web/connect-page.ts';
import { sendReply } from '../../../src/slack/web/page.ts';
import type { Database } from '../../../src/store/database.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import type { Message } from '../../../src/views/blocks/blocks.ts';
import { createKeyring } from '../../auth/keyring/keyrings.ts';
import { setup } from '../../support/command-harness.ts';

export const alice: Person = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
export const bob: Person = { teamId: 'T0ACME000', userId: 'U0BOB0000' };
/** The same user id in another workspace: another human. */
export const otherAlice: Person = { teamId: 'T0BETA000', userId: 'U0ALICE00' };

/** The page alone behind a real HTTP server, with a real keyStore and a local CDN; its clock stands still. */
export async function createPageHarness(
  database: Database,
  options: { publicUrl?: string; allowed?: string[] } = {},
) {
  let at = Date.UTC(2026, 10, 21, 12, 0, 0);
  const now = (): Date => new Date(at);
  const { db } = database;
  const cdn = await startCdn({ zones: 3 });
  const logs: string[] = [];
  const directMessages: { person: Person; message: Message }[] = [];
  let silent = false;
  const sealer = createSealer(await createKeyring());
  const links = createKeyLinks({ db, sealer, now });
  const installations = createInstallations({ db, sealer, now });
  for (const { teamId } of [alice, otherAlice])
    await installations.storeInstallation({
      team: { id: teamId },
      enterprise: undefined,
      user: { id: 'U0ADMIN00', token: undefined, scopes: undefined },
      bot: { id: 'B0BOT0000', userId: 'U0BOT0000', token: 'xoxb-of-a-test', scopes: [] },
    });
  const access = createInstallationAccess({
    installing: {
      kind: 'oauth',
      clientId: 'client',
      clientSecret: new Secret('client-secret'),
      stateSecret: new Secret('state-secret'),
      allowed: options.allowed ?? [],
    },
    apiUrl: 'http://127.0.0.1:1/api/',
    logger: createLibraryLog(createLogger('error')),
    installations,
  });
  const keyStore = guardKeys(createKeyStore({ db, sealer, now }), access);
  const audit = createAudit({ db, now });
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    void page.handle(request, path).then((reply) => sendReply(request, response, reply));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const here = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const page = createConnectPage({
    publicUrl: options.publicUrl ?? here,
    links,
    clientTokens: createClientTokens({ db, now }),
    keyStore,
    cdn: createCdn({
      apiUrl: cdn.url,
      originLoggingUrl: cdn.originLoggingUrl,
      timeoutMs: 2000,
      sleep: async () => {},
    }),
    zoneCache: createZoneCache({ now }),
    panel: setup.panel,
    audit,
    access,
    async tell(person, message) {
      if (silent) throw new Error('Slack is away');
      directMessages.push({ person, message });
    },
    inFlight: createInFlight({ manyTenants: true }),
    log: createLogger('debug', { write: (line) => void logs.push(line) }),
    now,
  });
  return {
    cdn,
    links,
    keyStore,
    audit,
    directMessages,
    logs,
    /** A new link, as Slack would show it. */
    async createLink(person = alice, shownFor = '@alice in acme.slack.com') {
      const { url } = await page.of(person, shownFor).offer();
      return new URL(new URL(url).pathname, here).href;
    },
    advance(ms: number) {
      at += ms;
    },
    uninstall: () => installations.remove({ ...alice, enterpriseId: undefined, isEnterpriseInstall: false }),
    /** From now on Slack takes no direct message. */
    failDirectMessages() {
      silent = true;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
      await cdn.close();
    },
  };
}
