import { deliverEvent } from '../events.ts';
import { textOf } from '../world.ts';
import type { Method } from './call.ts';
import { Refused } from './call.ts';

/** auth.test, auth.revoke, apps.uninstall. */
export const appMethods: Record<string, Method> = {
  'auth.test': ({ install }) => ({
    url: `https://${install.domain}.slack.com/`,
    team: install.name,
    user: 'cdn',
    team_id: install.id,
    user_id: install.botUserId,
    bot_id: install.botId,
    ...(install.isOrg ? { enterprise_id: install.id } : {}),
    is_enterprise_install: install.isOrg,
  }),
  'auth.revoke'(call) {
    if (textOf(call.args['test']) === 'true') return { revoked: false };
    call.install.active = false;
    const event = { type: 'tokens_revoked', tokens: { oauth: [], bot: [call.install.botUserId] } };
    void deliverEvent(call.sim, event, { teamId: call.install.id });
    return { revoked: true };
  },
  'apps.uninstall'(call) {
    const { client_id: id, client_secret: secret } = call.args;
    if (id !== call.sim.clientId) throw new Refused('invalid_client_id');
    if (secret !== call.sim.clientSecret) throw new Refused('bad_client_secret');
    call.install.active = false;
    // Its bot leaves every channel, and is in none after a new installation.
    for (const channel of call.sim.world.channels.values()) {
      if (channel.kind === 'channel' && call.install.covers(channel.teamId)) channel.botIsMember = false;
    }
    void deliverEvent(call.sim, { type: 'app_uninstalled' }, { teamId: call.install.id });
    return {};
  },
};
