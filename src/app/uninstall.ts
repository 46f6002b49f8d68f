import { UserError } from '../errors.ts';
import { explainNetworkFailure } from '../lib/network-failure.ts';
import { readCode } from '../outbox/classify-failure.ts';
import { Secret } from '../secrets/secret.ts';
import { readSlackError } from '../slack/installations.ts';
import type { Database } from '../store/database.ts';
import type { Config } from './config.ts';
import { createClient } from './doctor/slack.ts';
import { openInstallations } from './keyring-service.ts';

/**
 * Removes the app from a workspace or organisation in Slack. False = it was removed already. @throws UserError where that
 * fails.
 */
export async function uninstall(
  database: Database,
  config: Config,
  tenant: string,
  { fetch, now }: { readonly fetch: typeof globalThis.fetch; readonly now: () => Date },
): Promise<boolean> {
  const { installing } = config.slack;
  if (installing.kind === 'single')
    throw refuse(tenant, 'with SLACK_BOT_TOKEN there is no client secret to do it with');
  const installations = await openInstallations(database, config, now);
  const isEnterpriseInstall = tenant.startsWith('E');
  const place = { isEnterpriseInstall, enterpriseId: tenant, teamId: tenant };
  try {
    const { bot } = await installations.fetchInstallation(place);
    if (!bot) throw new Error('no bot token is stored');
    const client = createClient(new Secret(bot.token), { config, slackFetch: fetch });
    await client.apps.uninstall({
      client_id: installing.clientId,
      client_secret: installing.clientSecret.reveal(),
    });
    return true;
  } catch (error) {
    const code = readSlackError(error);
    if (readCode(code) === 'app') return false;
    throw refuse(tenant, code ?? explainNetworkFailure(error, config.slack.apiUrl)?.message ?? String(error));
  }
}

function refuse(tenant: string, why: string): UserError {
  return new UserError(
    `The app could not be removed from ${tenant} in Slack: ${why}`,
    'Nothing was erased. Remove it there (Manage apps), then erase: the bot notes that it is gone within seconds.',
  );
}
