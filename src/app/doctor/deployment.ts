import { type Installations, NotInstalledError } from '../../auth/installations.ts';
import { SealError } from '../../auth/keys/sealing.ts';
import { UserError } from '../../errors.ts';
import { mapConcurrently } from '../../lib/concurrency.ts';
import { Secret } from '../../secrets/secret.ts';
import type { Database } from '../../store/database.ts';
import { createNativeSupport } from '../../store/native-support.ts';
import { formatInteger } from '../../views/blocks/format.ts';
import type { Finding } from '../../views/doctor.ts';
import type { Config } from '../config.ts';
import { checkAddresses, checkHosts } from './network.ts';
import { checkConnection, checkWorkspace } from './slack.ts';
import { findChannels } from './stores.ts';

interface Options {
  readonly config: Config;
  readonly fetch: typeof globalThis.fetch;
  readonly slackFetch: typeof globalThis.fetch;
  readonly now: () => Date;
  /** Undefined where it cannot be opened. */
  readonly database: Database | undefined;
  /** Undefined where the database or its keyring cannot be opened. */
  readonly installations: Pick<Installations, 'fetchInstallation'> | undefined;
}

export interface AskedFor {
  /** Id of a person who gets charts and tables, which are taken back at once. */
  readonly probe: string | undefined;
  /** The one workspace or organisation to look at, where the bot serves many. */
  readonly team: string | undefined;
}

/**
 * All checks of a deployment but its stores: Slack, its workspaces, addresses, the CDN. The newest workspaces where it
 * serves many, unless one is asked for.
 *
 * @throws UserError where what is asked for does not fit this deployment.
 */
export async function checkDeployment(options: Options, { probe, team }: AskedFor): Promise<Finding[]> {
  const { config, slackFetch, database, now } = options;
  const { installing } = config.slack;
  if (installing.kind === 'single' && team !== undefined)
    throw new UserError('--team is for a bot that serves many workspaces.', 'Leave it out.');
  if (installing.kind === 'oauth' && probe !== undefined && team === undefined)
    throw new UserError('--probe needs the workspace of that person.', 'Add --team <workspace id>.');
  const slack = { ...config.slack, fetch: slackFetch, now };
  const support = database && createNativeSupport({ db: database.db, now });
  const lookAt = async (token: Secret, tenant?: string) => {
    const channels = database ? await findChannels(database, tenant) : [];
    return checkWorkspace({ token, channels, probe, support }, slack);
  };
  return [
    ...(await checkConnection(slack)),
    ...(installing.kind === 'single'
      ? await lookAt(installing.botToken)
      : await checkInstallations(options, team, lookAt)),
    ...(await checkAddresses(options)),
    ...(await checkHosts(options)),
  ];
}

/** Workspaces that are looked at unless one is named, and how many of them at once. */
const mostWorkspaces = 20;
const workspacesAtOnce = 4;

type LookAt = (token: Secret, tenant: string) => Promise<Finding[]>;

async function checkInstallations(
  { database, installations, now }: Options,
  team: string | undefined,
  lookAt: LookAt,
): Promise<Finding[]> {
  const check = 'slack tokens';
  if (!database || !installations)
    return [{ check, state: 'skipped', says: 'they are in the database, sealed under the keyring' }];
  const examine = async (tenant: string): Promise<Finding[]> => {
    const found = await examineInstallation(tenant, installations, now, lookAt);
    // Of many a line each, and all that is not well.
    const told = found.filter(
      ({ check: one, state }) => team !== undefined || state !== 'ok' || one === token,
    );
    return told.map((one) => ({ ...one, check: `${tenant} ${one.check}` }));
  };
  if (team !== undefined) return examine(team);
  const rows = database.db.selectFrom('installations');
  const newest = await rows
    .select('tenant')
    .orderBy('installed_at', 'desc')
    .orderBy('tenant')
    .limit(mostWorkspaces)
    .execute();
  const { count } = await rows.select((is) => is.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  if (count === 0)
    return [{ check, state: 'skipped', says: 'the app is not installed in any workspace yet' }];
  const found = await mapConcurrently(workspacesAtOnce, newest, ({ tenant }) => examine(tenant));
  const left = count - newest.length;
  const says = `${formatInteger(left)} more workspaces are not looked at: name one with --team`;
  return [...found.flat(), ...(left > 0 ? [{ check, state: 'skipped', says } as const] : [])];
}

const token = 'slack token';

/** An expired token is not refreshed here: looking changes nothing. */
async function examineInstallation(
  tenant: string,
  installations: Pick<Installations, 'fetchInstallation'>,
  now: () => Date,
  lookAt: LookAt,
): Promise<Finding[]> {
  const place = { isEnterpriseInstall: tenant.startsWith('E'), enterpriseId: tenant, teamId: tenant };
  try {
    const { bot } = await installations.fetchInstallation(place);
    if (!bot) return [{ check: token, state: 'failed', says: 'none is stored', fix: reinstall }];
    if (bot.expiresAt !== undefined && bot.expiresAt * 1000 <= now().getTime())
      return [{ check: token, state: 'skipped', says: 'has expired; the bot refreshes it when it is used' }];
    return await lookAt(new Secret(bot.token, 'slack-token'), tenant);
  } catch (error) {
    const isMissing = error instanceof NotInstalledError;
    if (!isMissing && !(error instanceof SealError)) throw error;
    const says = isMissing ? 'the app is not installed there' : error.message;
    return [{ check: token, state: 'failed', says, fix: reinstall }];
  }
}

const reinstall = 'Have an admin install the app there again: PUBLIC_URL/slack/install.';
