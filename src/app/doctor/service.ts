import { tenantId } from '../../auth/identity.ts';
import type { Doctor } from '../../commands/services.ts';
import { workspaceOf } from '../../slack/sender.ts';
import type { Services } from '../services.ts';
import type { Base, Stores } from '../stores.ts';
import { checkAddresses, checkHosts, checkKey } from './network.ts';
import { checkConnection, checkWorkspace } from './slack.ts';
import { checkStores, findChannels } from './stores.ts';

/**
 * The checks of `/cdn doctor`: those of `npm run doctor`, for the workspace that asks. Where the bot serves many, its
 * database, keyring and address are its operator's affair, and left out.
 */
export function createDoctor(
  base: Base,
  { database, keyStore, nativeSupport }: Stores,
  services: Services,
): Doctor {
  const { config, fetch, now } = base;
  const { access, cdn, drift, slackFetch } = services;
  return {
    retryNativeBlocks: (person) => nativeSupport.forget(tenantId(person)),
    async examine(person) {
      const tenant = tenantId(person);
      const [token, channels, linked] = await Promise.all([
        access.token(workspaceOf(person)),
        findChannels(database, tenant),
        keyStore.reveal(person),
      ]);
      const slack = { ...config.slack, fetch: slackFetch, now };
      const workspace = { token, channels, probe: person.userId, support: nativeSupport };
      const found = await Promise.all([
        config.slack.installing.kind === 'oauth' ? Promise.resolve([]) : checkOwn(),
        checkConnection(slack),
        checkWorkspace(workspace, slack),
        checkHosts(base),
      ]);
      const own = linked ? [await checkKey(cdn, linked.key)] : [];
      return [...found.flat(), ...own, drift.examine()];
    },
  };

  async function checkOwn() {
    const [stores, addresses] = await Promise.all([
      checkStores(database, config),
      checkAddresses({ config, fetch }),
    ]);
    return [...stores, ...addresses];
  }
}
