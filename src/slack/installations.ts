import type { Logger } from '@slack/bolt';
import { type InstallationStore, InstallProvider } from '@slack/oauth';
import { WebClient } from '@slack/web-api';
import type { Installing } from '../app/config.ts';
import { NotInstalledError } from '../auth/installations.ts';
import { UserError } from '../errors.ts';
import { Secret } from '../secrets/secret.ts';
import { type OwnWorkspace, tenantIdOfWorkspace, type Workspace } from './sender.ts';

/** What the bot asks a workspace for; the manifest says the same, and a test holds them equal. */
export const scopes = [
  'commands', // the slash command
  'chat:write', // answers where a response_url has ended, and direct messages
  'files:write', // charts and files
  'im:write', // the conversation with a person that private files go to
  'channels:history', // optional: whether a digest or export whose answer got lost is in its channel
  'groups:history', // optional: the same in private channels
  'metadata.message:read', // optional: by which mark it is found there
  'users:read', // optional: who is a workspace admin, and that somebody was deactivated
  'usergroups:read', // optional: who is in the user groups that settings name
] as const;

/** Whose token answers. Asked after the acknowledgement only: with OAuth it reads the database. */
export interface InstallationAccess {
  /** @throws UserError where the app is not installed in that workspace. */
  token(workspace: Workspace): Promise<Secret>;
  /** Known after `verify` where one token serves one workspace. */
  own(): OwnWorkspace | undefined;
  /** Asks Slack whether the token is good. @throws UserError with what to do. */
  verify(): Promise<void>;
  readonly installer: InstallProvider | undefined;
}

export interface AccessOptions {
  readonly installing: Installing;
  readonly apiUrl: string;
  readonly publicUrl?: string | undefined;
  readonly logger: Logger;
  readonly installations: InstallationStore;
  /** Runs a token read while no other process refreshes the same workspace's token. */
  readonly exclusively: <T>(tenant: string, run: () => Promise<T>) => Promise<T>;
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly now: () => Date;
}

export function createInstallationAccess(options: AccessOptions): InstallationAccess {
  return options.installing.kind === 'single'
    ? singleWorkspace(options, options.installing.botToken)
    : manyWorkspaces(options, options.installing);
}

function singleWorkspace(options: AccessOptions, botToken: Secret): InstallationAccess {
  let own: OwnWorkspace | undefined;
  return {
    token: async () => botToken,
    own: () => own,
    installer: undefined,
    async verify() {
      const client = new WebClient(botToken.reveal(), {
        slackApiUrl: options.apiUrl,
        logger: options.logger,
        allowAbsoluteUrls: false,
        timeout: 5_000,
        // A network that comes up a moment after the bot is common; a wrong token is not retried.
        retryConfig: { retries: 3, minTimeout: 300, maxTimeout: 2_000 },
        ...(options.fetch ? { fetch: options.fetch } : {}),
      });
      try {
        const answer = await client.auth.test();
        own = { teamId: answer.team_id, enterpriseId: answer.enterprise_id };
      } catch (error) {
        throw refusal(error, options.apiUrl);
      }
    },
  };
}

function manyWorkspaces(
  options: AccessOptions,
  installing: Installing & { kind: 'oauth' },
): InstallationAccess {
  const installer = new InstallProvider({
    clientId: installing.clientId,
    clientSecret: installing.clientSecret.reveal(),
    stateSecret: installing.stateSecret.reveal(),
    installationStore: options.installations,
    installUrlOptions: {
      scopes: [...scopes],
      ...(options.publicUrl ? { redirectUri: new URL('/slack/oauth_redirect', options.publicUrl).href } : {}),
    },
    logger: options.logger,
    authorizationUrl: authorizationUrl(options.apiUrl),
    clientOptions: {
      slackApiUrl: options.apiUrl,
      allowAbsoluteUrls: false,
      timeout: 5_000,
      retryConfig: { retries: 1 },
      ...(options.fetch ? { fetch: options.fetch } : {}),
    },
  });
  return {
    installer,
    own: () => undefined,
    verify: async () => undefined,
    async token(workspace) {
      const query = {
        teamId: workspace.teamId,
        enterpriseId: workspace.enterpriseId,
        isEnterpriseInstall: workspace.isEnterpriseInstall,
      };
      const found = options.installations.fetchInstallation(query, options.logger);
      const { bot } = await found.catch((error: unknown) => {
        // A database that does not answer, or a row that was changed, is not a missing installation.
        if (error instanceof NotInstalledError) return missing();
        throw error;
      });
      if (!bot) return missing();
      if (!expiresSoon(bot.expiresAt, options.now())) return new Secret(bot.token, 'slack-token');
      // The library refreshes without a lock, and a refresh token works once (slack.md §2.4): one process at a time.
      const fresh = await options.exclusively(tenantIdOfWorkspace(workspace), () =>
        installer.authorize(query),
      );
      return fresh.botToken ? new Secret(fresh.botToken, 'slack-token') : missing();
    },
  };
}

function missing(): never {
  throw new UserError(
    'cdn-chatops is not installed in this workspace.',
    'Ask whoever runs it for the install link.',
  );
}

/** The library refreshes what ends within two hours; asked a little earlier, it never finds one past that point. */
function expiresSoon(expiresAt: number | undefined, now: Date): boolean {
  return expiresAt !== undefined && expiresAt - now.getTime() / 1000 < 2 * 3600 + 60;
}

/** Where people agree to an installation: beside the Web API, which is elsewhere in tests. */
function authorizationUrl(apiUrl: string): string {
  return new URL('/oauth/v2/authorize', apiUrl).href;
}

function refusal(error: unknown, apiUrl: string): UserError {
  const code = readSlackError(error);
  if (code) {
    return new UserError(
      `Slack refused SLACK_BOT_TOKEN (${code}).`,
      'Copy the Bot User OAuth Token again: api.slack.com/apps → your app → OAuth & Permissions.',
    );
  }
  return new UserError(
    `Slack does not answer at ${new URL(apiUrl).host}.`,
    'Check the network and SLACK_API_URL.',
  );
}

/** Slack's own word for what went wrong (`invalid_auth`), where the answer was Slack's. */
export function readSlackError(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('data' in error)) return undefined;
  const { data } = error;
  if (typeof data !== 'object' || data === null || !('error' in data)) return undefined;
  return typeof data.error === 'string' ? data.error : undefined;
}
