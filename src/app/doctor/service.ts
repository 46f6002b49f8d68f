import { tenantId } from '../../auth/identity.ts';
import type { Doctor } from '../../commands/services.ts';
import { workspaceOf } from '../../slack/sender.ts';
import type { Services } from '../services.ts';
import type { Base, Stores } from '../stores.ts';
import { checkAddresses, checkCdn } from './network.ts';
import { checkSlack } from './slack.ts';
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
  const { access, cdn, slackFetch } = services;
  return {
    retryNativeBlocks: (person) => nativeSupport.forget(tenantId(person)),
    async examine(person) {
      const tenant = tenantId(person);
      const [token, channels, linked] = await Promise.all([
        access.token(workspaceOf(person)),
        findChannels(database, tenant),
        keyStore.reveal(person),
      ]);
      const slack = { ...config.slack, fetch: slackFetch, now, token, channels };
      const [inSlack, own, atCdn] = await Promise.all([
        checkSlack({ ...slack, probe: person.userId, support: nativeSupport }),
        config.slack.installing.kind === 'oauth' ? [] : checkOwn(),
        checkCdn({ config, fetch, cdn }, linked?.key),
      ]);
      return [...own, ...inSlack, ...atCdn];
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
