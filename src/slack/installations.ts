import type { Logger } from '@slack/bolt';
import { type InstallationStore, InstallProvider } from '@slack/oauth';
import { WebClient } from '@slack/web-api';
import { NotInstalledError } from '../auth/installations.ts';
import { UserError } from '../errors.ts';
import { Secret } from '../secrets/secret.ts';
import { type OwnWorkspace, tenantIdOfWorkspace, type Workspace } from './sender.ts';

/** The scopes of the bot. A test compares them with the manifest. */
export const scopes = [
  'commands', // the slash command
  'chat:write', // answers after a response_url has expired, and direct messages
  'files:write', // charts and files
  'im:write', // the direct messages that private files are sent to
  'channels:history', // optional: finds a message of the bot whose answer was lost
  'groups:history', // optional: the same in private channels
  'metadata.message:read', // optional: the marker of that message
  'users:read', // optional: workspace admins and deactivated people
  'usergroups:read', // optional: members of the user groups in the settings
] as const;

/** How the bot gets Slack's permission: one workspace by its bot token, or many by OAuth. */
export type Installing =
  | { readonly kind: 'single'; readonly botToken: Secret }
  | {
      readonly kind: 'oauth';
      readonly clientId: string;
      readonly clientSecret: Secret;
      readonly stateSecret: Secret;
    };

/** The token of a workspace. Use after the acknowledgement only: with OAuth it reads the database. */
export interface InstallationAccess {
  /** @throws UserError if the app is not installed in that workspace. */
  token(workspace: Workspace): Promise<Secret>;
  /** Known after `verify` if one token serves one workspace. */
  own(): OwnWorkspace | undefined;
  /** Checks the token with Slack. @throws UserError with the next step. */
  verify(): Promise<void>;
  readonly installer: InstallProvider | undefined;
}

export interface AccessOptions {
  readonly installing: Installing;
  readonly apiUrl: string;
  readonly publicUrl?: string | undefined;
  readonly logger: Logger;
  readonly installations: InstallationStore;
  /** Runs a token refresh under a lock for the workspace, across processes. */
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
        // The network often comes up a moment after the bot; a wrong token is not retried.
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
        // A failing database or a changed row is not a missing installation.
        if (error instanceof NotInstalledError) return missing();
        throw error;
      });
      if (!bot) return missing();
      if (!expiresSoon(bot.expiresAt, options.now())) return new Secret(bot.token, 'slack-token');
      // The library refreshes without a lock, and a refresh token works once: one process at a time.
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

/** The library refreshes tokens that expire within two hours; one minute more, so that it never sees a later one. */
function expiresSoon(expiresAt: number | undefined, now: Date): boolean {
  return expiresAt !== undefined && expiresAt - now.getTime() / 1000 < 2 * 3600 + 60;
}

/** The page where people agree to an installation, on the host of the Web API. */
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

/** Slack's error code (`invalid_auth`); undefined if the error is not an answer of Slack. */
export function readSlackError(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('data' in error)) return undefined;
  const { data } = error;
  if (typeof data !== 'object' || data === null || !('error' in data)) return undefined;
  return typeof data.error === 'string' ? data.error : undefined;
}
