import { type Installations, NotInstalledError } from '../../auth/installations.ts';
import { SealError } from '../../auth/keys/sealing.ts';
import { Secret } from '../../secrets/secret.ts';
import type { Database } from '../../store/database.ts';
import { formatCount } from '../../views/blocks/format.ts';
import type { Finding } from '../../views/doctor.ts';
import type { Config } from '../config.ts';
import { findChannels } from './stores.ts';
import { tokenCheck, type Workspace, type Workspaces } from './subject.ts';

interface Options {
  readonly config: Config;
  readonly now: () => Date;
  readonly database: Database | undefined;
  /** Undefined where the database or its keyring cannot be opened. */
  readonly installations: Pick<Installations, 'fetchInstallation'> | undefined;
  /** The one workspace or organisation to look at, where the bot serves many. */
  readonly team: string | undefined;
}

/** The workspaces that an operator looks at: the one of the token, the one that is named, or the newest. */
export async function findWorkspaces(options: Options): Promise<Workspaces> {
  const { config, database } = options;
  const { installing } = config.slack;
  if (installing.kind === 'oauth') return findInstalled(options);
  const channels = database ? await findChannels(database) : [];
  return { found: [], workspaces: [{ token: installing.botToken, channels }] };
}

const mostWorkspaces = 20;

async function findInstalled(options: Options): Promise<Workspaces> {
  const { database, installations, team } = options;
  const check = 'slack tokens';
  if (!database || !installations) {
    const says = 'they are in the database, sealed under the keyring';
    return { found: [{ check, state: 'skipped', says }], workspaces: [] };
  }
  const open = (tenant: string) => openInstallation(tenant, installations, database, options);
  if (team !== undefined) return collect([await open(team)]);
  const rows = database.db.selectFrom('installations');
  const newest = await rows
    .select('tenant')
    .orderBy('installed_at', 'desc')
    .orderBy('tenant')
    .limit(mostWorkspaces)
    .execute();
  const { count } = await rows.select((is) => is.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  const left = count - newest.length;
  const note =
    count === 0
      ? 'the app is not installed in any workspace yet'
      : left > 0
        ? `${formatCount(left, 'more workspace is', 'more workspaces are')} not checked: name one with --team`
        : undefined;
  const { found, workspaces } = collect(await Promise.all(newest.map(({ tenant }) => open(tenant))));
  return {
    workspaces,
    found: note === undefined ? found : [...found, { check, state: 'skipped', says: note }],
  };
}

function collect(opened: readonly (Workspace | Finding)[]): Workspaces {
  return {
    found: opened.flatMap((one) => ('check' in one ? [one] : [])),
    workspaces: opened.flatMap((one) => ('token' in one ? [one] : [])),
  };
}

/** An expired token is not refreshed here: looking changes nothing. */
async function openInstallation(
  tenant: string,
  installations: Pick<Installations, 'fetchInstallation'>,
  database: Database,
  { now, team }: Options,
): Promise<Workspace | Finding> {
  const check = `${tenant} ${tokenCheck}`;
  const place = { isEnterpriseInstall: tenant.startsWith('E'), enterpriseId: tenant, teamId: tenant };
  try {
    const { bot } = await installations.fetchInstallation(place);
    if (!bot) return { check, state: 'failed', says: 'none is stored', fix: reinstall };
    if (bot.expiresAt !== undefined && bot.expiresAt * 1000 <= now().getTime())
      return { check, state: 'skipped', says: 'has expired; the bot refreshes it when it is used' };
    const channels = await findChannels(database, tenant);
    const token = new Secret(bot.token, 'slack-token');
    return { token, channels, prefix: `${tenant} `, isBrief: team === undefined };
  } catch (error) {
    const isMissing = error instanceof NotInstalledError;
    if (!isMissing && !(error instanceof SealError)) throw error;
    const says = isMissing ? 'the app is not installed there' : error.message;
    return { check, state: 'failed', says, fix: reinstall };
  }
}

const reinstall = 'Have an admin install the app there again: PUBLIC_URL/slack/install.';
