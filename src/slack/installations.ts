import { type InstallationStore, InstallProvider } from '@slack/oauth';
import { ErrorCode, type Logger, WebClient, type WebClientOptions } from '@slack/web-api';
import { z } from 'zod';
import type { Installation } from '../auth/identity.ts';
import { NotInstalledError } from '../auth/installations.ts';
import type { KeyStore } from '../auth/keys/key-store.ts';
import { isDatabaseLost, UserError } from '../errors.ts';
import { createCache } from '../lib/cache.ts';
import { explainNetworkFailure } from '../lib/network-failure.ts';
import { isPassingCode, readCode } from '../outbox/slack-port.ts';
import { Secret } from '../secrets/secret.ts';
import { renderInstall } from '../views/connect/page.ts';
import type { OwnWorkspace } from './sender.ts';

export type Installing =
  | { readonly kind: 'single'; readonly botToken: Secret }
  | {
      readonly kind: 'oauth';
      readonly clientId: string;
      readonly clientSecret: Secret;
      readonly stateSecret: Secret;
      /** Empty = all. */
      readonly allowed: readonly string[];
    };

interface AccessOptions {
  readonly installing: Installing;
  readonly apiUrl: string;
  readonly publicUrl?: string | undefined;
  readonly logger: Logger;
  readonly installations: InstallationStore;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

export type InstallationAccess = ReturnType<typeof manyWorkspaces>;

/** Use after the acknowledgement only: with OAuth it reads the database. Without the database it gives what was read last. */
export function createInstallationAccess(options: AccessOptions): InstallationAccess {
  const { apiUrl, fetch, installing } = options;
  const clientOptions = {
    slackApiUrl: apiUrl,
    allowAbsoluteUrls: false,
    timeout: 5_000,
    ...(fetch ? { fetch } : {}),
  };
  return installing.kind === 'single'
    ? singleWorkspace(options, installing.botToken, clientOptions)
    : manyWorkspaces(options, installing, clientOptions);
}

function singleWorkspace(
  { apiUrl, logger }: AccessOptions,
  botToken: Secret,
  clientOptions: WebClientOptions,
): InstallationAccess {
  let own: OwnWorkspace | undefined;
  return {
    token: async () => botToken,
    isInstalled: async () => true,
    own: () => own,
    installer: undefined,
    async verify() {
      // The network often comes up a moment after the bot.
      const retryConfig = { retries: 3, minTimeout: 300, maxTimeout: 2_000 };
      const client = new WebClient(botToken.reveal(), { ...clientOptions, logger, retryConfig });
      try {
        const answer = await client.auth.test();
        own = { teamId: answer.team_id, enterpriseId: answer.enterprise_id };
      } catch (error) {
        throw explainRefusedToken(
          'SLACK_BOT_TOKEN',
          'Copy the Bot User OAuth Token again: api.slack.com/apps → your app → OAuth & Permissions.',
          { error, apiUrl },
        );
      }
    },
  };
}

interface Found {
  readonly mayUse: boolean;
  readonly token: string | undefined;
}

const mostKnown = 500;

function manyWorkspaces(
  { apiUrl, installations, logger, publicUrl }: AccessOptions,
  { clientId, clientSecret, stateSecret, allowed }: Installing & { kind: 'oauth' },
  clientOptions: WebClientOptions,
) {
  const isAllowed = (...ids: readonly (string | undefined)[]): boolean =>
    allowed.length === 0 || ids.some((id) => id !== undefined && allowed.includes(id));
  const storeInstallation: InstallationStore['storeInstallation'] = async (installation, about) => {
    const { team, enterprise, bot } = installation;
    if (bot?.expiresAt !== undefined)
      throw new UserError(
        'This app’s tokens expire, and the bot does not renew them. Its operator can create the app again from the manifest, without token rotation.',
      );
    if (isAllowed(team?.id, enterprise?.id)) return installations.storeInstallation(installation, about);
    const revoked = new WebClient(bot?.token, { ...clientOptions, logger }).auth.revoke();
    await revoked.catch((error: unknown) => logger.warn('cannot revoke a refused installation', error));
    throw new UserError(
      'This workspace may not install this bot.',
      `Ask the team that runs it to add ${team?.id ?? enterprise?.id} to ALLOWED_WORKSPACES.`,
    );
  };
  const installer = new InstallProvider({
    clientId,
    clientSecret: clientSecret.reveal(),
    stateSecret: stateSecret.reveal(),
    installationStore: { ...installations, storeInstallation },
    installUrlOptions: {
      scopes: Object.keys(scopes),
      ...(publicUrl ? { redirectUri: `${publicUrl.replace(/\/+$/, '')}/slack/oauth_redirect` } : {}),
    },
    renderHtmlForInstallPath: (url) =>
      renderInstall(url, { permissions: scopes, host: publicUrl ? new URL(publicUrl).host : 'this address' }),
    logger,
    authorizationUrl: new URL('/oauth/v2/authorize', apiUrl).href,
    clientOptions: { ...clientOptions, retryConfig: { retries: 1 } },
  });
  /** People are told with it that the database is gone: everything else they ask for needs the database. */
  const latest = createCache<Found>({ now: () => new Date(), maxEntries: mostKnown });
  const find = async (place: Installation): Promise<Found> => {
    const { enterpriseId, teamId } = place;
    const query = { isEnterpriseInstall: enterpriseId !== undefined, enterpriseId, teamId };
    const key = `${enterpriseId}/${teamId}`;
    try {
      const { bot, team, enterprise } = await installations.fetchInstallation(query, logger);
      // Also where a refused installation could not be revoked.
      const found = { mayUse: isAllowed(teamId, enterpriseId, team?.id, enterprise?.id), token: bot?.token };
      latest.set(key, found);
      return found;
    } catch (error) {
      const known = isDatabaseLost(error) ? latest.get(key) : undefined;
      if (known) return known;
      // A failing database or a changed row is not a missing installation.
      if (!(error instanceof NotInstalledError)) throw error;
      latest.drop(key);
      return { mayUse: isAllowed(teamId, enterpriseId), token: undefined };
    }
  };
  return {
    installer: installer as InstallProvider | undefined,
    /** After `verify`, if one token serves one workspace. */
    own: (): OwnWorkspace | undefined => undefined,
    verify: async (): Promise<void> => undefined,
    /** @throws where Slack does not say */
    async isInstalled(place: Installation): Promise<boolean> {
      try {
        const { token } = await find(place);
        if (token !== undefined) await new WebClient(token, { ...clientOptions, logger }).auth.test();
        return token !== undefined;
      } catch (error) {
        if (readCode(readSlackError(error)) !== 'app') throw error;
        return false;
      }
    },
    /** @throws UserError if the app is not installed in that workspace. */
    async token(place: Installation): Promise<Secret> {
      const { mayUse, token } = await find(place);
      if (!mayUse)
        throw new UserError(
          'This workspace may not use this bot.',
          `Ask the team that runs it to add ${place.teamId} to ALLOWED_WORKSPACES.`,
        );
      if (token !== undefined) return new Secret(token, 'slack-token');
      throw new UserError(
        'cdn-chatops is not installed in this workspace.',
        'Ask the team that runs it for the install link.',
      );
    },
  };
}

/** A key opens, and is linked, only where its workspace is allowed and has the app. */
export function guardKeys(keyStore: KeyStore, access: Pick<InstallationAccess, 'token'>): KeyStore {
  return {
    ...keyStore,
    link: async (person, ...key) => (await access.token(person), keyStore.link(person, ...key)),
    reveal: async (person) => (await access.token(person), keyStore.reveal(person)),
  };
}

export function explainRefusedToken(
  variable: string,
  howToGetIt: string,
  { error, apiUrl }: { readonly error: unknown; readonly apiUrl: string },
): UserError {
  const isLimited = (error as { readonly code?: unknown } | undefined)?.code === ErrorCode.RateLimitedError;
  const code = isLimited ? 'ratelimited' : readSlackError(error);
  if (code !== undefined && isPassingCode(code))
    return new UserError(
      `Slack can’t check ${variable} right now (${code}).`,
      'The token may be right: try again in a minute.',
    );
  if (code !== undefined) return new UserError(`Slack refused ${variable} (${code}).`, howToGetIt);
  const { message, hint } = explainNetworkFailure(error, apiUrl) ?? {
    message: `Slack does not answer at ${new URL(apiUrl).host}.`,
    hint: 'Check the network and SLACK_API_URL.',
  };
  return new UserError(message, hint);
}

/** Such as `invalid_auth`; undefined if it is no answer of Slack. */
export function readSlackError(error: unknown): string | undefined {
  return slackError.safeParse(error).data?.data.error;
}

/** False where what a call is about is there no more. */
export async function isThere(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (readCode(readSlackError(error)) !== 'absent') throw error;
    return false;
  }
}

// Not a page that stands in the place of an answer.
const slackError = z.object({ data: z.object({ error: z.string().regex(/^\w{1,80}$/u) }) });

export interface Scope {
  readonly use: string;
  readonly lost: string;
  readonly optional?: true;
}

/** A test compares them with the manifest. */
export const scopes = {
  commands: { use: 'answers /cdn, its buttons and forms', lost: 'nothing works' },
  'chat:write': {
    use: 'posts digests, approvals and answers that you share, in channels it was invited to',
    lost: 'no digests, exports and approvals, and no answers after 30 minutes',
  },
  'files:write': { use: 'sends exports and long lists as files', lost: 'answers come without their files' },
  'im:write': {
    use: 'sends private files and notices as direct messages',
    lost: 'no files, and no messages to one person',
  },
  'channels:history': {
    use: 'looks for its own message in a public channel when Slack did not confirm it',
    lost: 'a message that Slack did not confirm is not looked for in public channels',
    optional: true,
  },
  'groups:history': {
    use: 'the same in private channels it was invited to',
    lost: 'a message that Slack did not confirm is not looked for in private channels',
    optional: true,
  },
  'metadata.message:read': {
    use: 'recognizes that message by a mark that the bot put on it',
    lost: 'a message that Slack did not confirm is not recognized',
    optional: true,
  },
  'users:read': {
    use: 'sees who is an admin, who was deactivated, and the time zone of the person who asks',
    lost: 'Slack’s admins are not recognized, and deactivated people are not noticed',
    optional: true,
  },
  'usergroups:read': {
    use: 'knows the members of user groups that you give rights to',
    lost: 'user groups in the settings have no members',
    optional: true,
  },
  'app_mentions:read': {
    use: 'answers when somebody mentions it, also in threads',
    lost: 'mentions are not answered, so nobody can ask it in a thread',
    optional: true,
  },
  'im:history': {
    use: 'answers what people write in their own conversation with it',
    lost: 'messages to it are not answered',
    optional: true,
  },
  'channels:read': {
    use: 'sees whether people of other organizations read a public channel before it posts an answer there',
    lost: 'answers, digests and alerts go only into channels that the settings name',
    optional: true,
  },
  'groups:read': {
    use: 'the same of private channels it was invited to',
    lost: 'answers, digests and alerts go only into those private channels that the settings name',
    optional: true,
  },
} as const satisfies Record<string, Scope>;
