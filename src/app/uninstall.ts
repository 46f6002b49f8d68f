import { WebClient } from '@slack/web-api';
import { UserError } from '../errors.ts';
import { readCode } from '../outbox/classify-failure.ts';
import { readSlackError } from '../slack/installations.ts';
import type { Database } from '../store/database.ts';
import type { Config } from './config.ts';
import { silent } from './doctor/slack.ts';
import { openInstallations } from './keyring-service.ts';

/**
 * Removes the app from a workspace or organisation in Slack, with the token of its installation. False = it was removed
 * there already.
 *
 * @throws UserError where Slack or the keyring does not allow it.
 */
export async function uninstall(
  database: Database,
  config: Config,
  tenant: string,
  { fetch, now }: { readonly fetch: typeof globalThis.fetch; readonly now: () => Date },
): Promise<boolean> {
  const { installing, apiUrl } = config.slack;
  if (installing.kind === 'single')
    throw refuse(tenant, 'with SLACK_BOT_TOKEN there is no client secret to do it with');
  const installations = await openInstallations(database, config, now);
  const isEnterpriseInstall = tenant.startsWith('E');
  const place = { isEnterpriseInstall, enterpriseId: tenant, teamId: tenant };
  try {
    const { bot } = await installations.fetchInstallation(place);
    const client = new WebClient(bot?.token, {
      slackApiUrl: apiUrl,
      allowAbsoluteUrls: false,
      fetch,
      timeout: 10_000,
      retryConfig: { retries: 1 },
      logger: silent,
    });
    await client.apps.uninstall({
      client_id: installing.clientId,
      client_secret: installing.clientSecret.reveal(),
    });
    return true;
  } catch (error) {
    const code = readSlackError(error) ?? (error instanceof Error ? error.name : 'no answer');
    if (readCode(code) === 'app') return false;
    throw refuse(tenant, code);
  }
}

function refuse(tenant: string, why: string): UserError {
  return new UserError(
    `The app could not be removed from ${tenant} in Slack (${why}).`,
    'Nothing was erased. Remove it there (Manage apps), then erase: the bot notes that it is gone within seconds.',
  );
}
