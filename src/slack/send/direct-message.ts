import type { Person } from '../../auth/identity.ts';
import { allowSecrets } from '../../secrets/secret.ts';
import type { Message } from '../../views/blocks/message.ts';
import type { InstallationAccess } from '../installations.ts';
import type { Clients } from './clients.ts';

/** Sends somebody a direct message that nothing they did in Slack asked for. @throws what Slack or the network says. */
export function createDirectMessenger(deps: {
  access: InstallationAccess;
  clients: Clients;
}): (person: Person, message: Message) => Promise<void> {
  return async ({ enterpriseId, teamId, userId }, { text, blocks, carries }) => {
    const isEnterpriseInstall = enterpriseId !== undefined;
    const token = await deps.access.token({ teamId, enterpriseId, isEnterpriseInstall });
    const client = deps.clients.interactive(token);
    await allowSecrets(carries ?? [], () =>
      client.chat.postMessage({
        channel: userId,
        text,
        ...(blocks ? { blocks } : {}),
        unfurl_links: false,
        unfurl_media: false,
      }),
    );
  };
}
