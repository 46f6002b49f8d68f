import { z } from 'zod';
import { parseKeyring } from '../auth/keyring/keyring.ts';
import { UserError } from '../errors.ts';
import { Secret } from '../secrets/secret.ts';
import type { Installing } from '../slack/installations.ts';

export interface Config {
  readonly slack: {
    readonly apiUrl: string;
    /** Present = Socket Mode, absent = signed HTTP. */
    readonly appToken: Secret | undefined;
    readonly signingSecret: Secret | undefined;
    readonly installing: Installing;
  };
  readonly cdn: { readonly apiUrl: string; readonly originLoggingUrl: string };
  readonly store: { readonly databaseUrl: Secret | undefined; readonly dataDir: string };
  readonly keyring: { readonly keys: Secret | undefined; readonly file: string | undefined };
  /** User ids that are admins whatever Slack says: `U…`, or `T…/U…` for one workspace only. */
  readonly adminIds: readonly string[];
  readonly web: { readonly port: number; readonly publicUrl: string | undefined };
  readonly logLevel: LogLevel;
}

/** The stores' part, without Slack and the CDN. */
export type StoreConfig = Pick<Config, 'store' | 'keyring' | 'logLevel'>;

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads the environment. The error names every missing or wrong variable at once, each with its source.
 *
 * @throws UserError with one line a problem; never a value.
 */
export function readConfig(env: Env): Config {
  const reader = readerOf(env);
  const { text, secret, check, problems } = reader;
  const installing = readInstalling(text, problems);
  const appToken = secret('SLACK_APP_TOKEN');
  const signingSecret = secret('SLACK_SIGNING_SECRET');
  if (appToken && !appToken.reveal().startsWith('xapp-')) {
    problems.push('SLACK_APP_TOKEN must begin with xapp- (Basic Information → App-Level Tokens).');
  }
  refuseShort(reader, 'SLACK_SIGNING_SECRET', 'copy it from Basic Information → App Credentials');
  refuseShort(reader, 'SLACK_STATE_SECRET', 'make one with: openssl rand -hex 32');
  if (!appToken && !signingSecret) {
    problems.push(
      'SLACK_APP_TOKEN (Socket Mode: Basic Information → App-Level Tokens, scope connections:write) ' +
        'or SLACK_SIGNING_SECRET (HTTP: Basic Information → App Credentials) is missing.',
    );
  }

  const stored = readStore(reader);
  const adminIds = (text('ADMIN_USER_IDS') ?? '').split(/[\s,]+/u).filter(Boolean);
  if (!adminIds.every((id) => /^(?:[TE][A-Z0-9]+\/)?[UW][A-Z0-9]+$/.test(id))) {
    problems.push(
      'ADMIN_USER_IDS must be user ids such as U012AB3CD, with commas between them ' +
        '(Slack: profile → ⋮ → Copy member ID).',
    );
  }

  const config: Config = {
    slack: {
      apiUrl: withSlash(check('SLACK_API_URL', address, 'https://slack.com/api/')),
      appToken,
      signingSecret,
      installing,
    },
    cdn: {
      apiUrl: check('CDN_API_URL', address, 'https://api.bunny.net'),
      originLoggingUrl: check('CDN_ORIGIN_LOGGING_URL', address, 'https://cdn-origin-logging.bunny.net'),
    },
    ...stored,
    adminIds,
    web: {
      port: check('PORT', port, 3000),
      publicUrl: check<string | undefined>('PUBLIC_URL', address, undefined),
    },
  };
  throwProblems(problems);
  return config;
}

/**
 * Reads the part that `migrate` and `keys` need: they never talk to Slack, so its variables may be missing.
 *
 * @throws UserError as `readConfig`.
 */
export function readStoreConfig(env: Env): StoreConfig {
  const reader = readerOf(env);
  const stored = readStore(reader);
  throwProblems(reader.problems);
  return stored;
}

/**
 * Reads the part that `audit` needs. The keyring may be missing: signatures are not checked then.
 *
 * @throws UserError as `readConfig`.
 */
export function readCheckConfig(env: Env): StoreConfig {
  const reader = readerOf(env);
  const stored = readStore(reader, { keyring: 'optional' });
  throwProblems(reader.problems);
  return stored;
}

interface Reader {
  readonly text: (name: string) => string | undefined;
  readonly secret: (name: string) => Secret | undefined;
  readonly check: <T>(name: string, schema: z.ZodType<T>, fallback: T) => T;
  readonly problems: string[];
}

function readerOf(env: Env): Reader {
  const problems: string[] = [];
  const text = (name: string): string | undefined => env[name]?.trim() || undefined;
  const secret = (name: string): Secret | undefined => {
    const value = text(name);
    return value === undefined ? undefined : new Secret(value);
  };
  const check = <T>(name: string, schema: z.ZodType<T>, fallback: T): T => {
    const value = text(name);
    if (value === undefined) return fallback;
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    problems.push(`${name} ${parsed.error.issues[0]?.message ?? 'is wrong'}.`);
    return fallback;
  };
  return { text, secret, check, problems };
}

/** Reported together with the other problems, before a database is made. */
function findKeyringProblems(keys: Secret): string[] {
  try {
    parseKeyring(keys, 'ENCRYPTION_KEYS');
    return [];
  } catch (error) {
    if (error instanceof UserError) return [`${error.message} ${error.hint}`];
    throw error;
  }
}

function readStore(
  { text, secret, check, problems }: Reader,
  needs: { readonly keyring: 'optional' | 'needed' } = { keyring: 'needed' },
): StoreConfig {
  const databaseUrl = secret('DATABASE_URL');
  if (databaseUrl && !/^postgres(ql)?:\/\//.test(databaseUrl.reveal())) {
    problems.push('DATABASE_URL must begin with postgres:// (leave it out to use the embedded database).');
  }
  const keyring = { keys: secret('ENCRYPTION_KEYS'), file: text('ENCRYPTION_KEYS_FILE') };
  if (databaseUrl && needs.keyring === 'needed' && !keyring.keys && !keyring.file) {
    problems.push(
      'ENCRYPTION_KEYS or ENCRYPTION_KEYS_FILE is missing: with DATABASE_URL every replica needs the same keys ' +
        '(make one with: echo "k1:$(openssl rand -base64 32)").',
    );
  }
  if (keyring.keys && keyring.file) {
    problems.push('ENCRYPTION_KEYS and ENCRYPTION_KEYS_FILE exclude each other: set one of them.');
  }
  if (keyring.keys) problems.push(...findKeyringProblems(keyring.keys));
  return {
    store: { databaseUrl, dataDir: text('DATA_DIR') ?? './data' },
    keyring,
    logLevel: check(
      'LOG_LEVEL',
      z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` }),
      'info',
    ),
  };
}

// Slack's signing secrets are 32 hex digits. A short secret is guessed from one signature or OAuth state that was seen.
const shortestSecret = 16;

function refuseShort({ text, problems }: Reader, name: string, source: string): void {
  const length = text(name)?.length;
  if (length === undefined || length >= shortestSecret) return;
  problems.push(`${name} is too short: at least ${shortestSecret} characters (${source}).`);
}

function throwProblems(problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw new UserError(
    `The bot cannot start:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    'The README says where each value comes from. To try everything without a Slack: npm run playground',
  );
}

function readInstalling(text: (name: string) => string | undefined, problems: string[]): Installing {
  const botToken = text('SLACK_BOT_TOKEN');
  const oauth = ['SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET', 'SLACK_STATE_SECRET'] as const;
  const present = oauth.filter((name) => text(name) !== undefined);
  if (botToken === undefined && present.length === 0) {
    problems.push(
      'SLACK_BOT_TOKEN is missing (OAuth & Permissions → Bot User OAuth Token). ' +
        `For many workspaces set ${oauth.join(', ')} instead.`,
    );
  } else if (botToken !== undefined && present.length > 0) {
    problems.push(`SLACK_BOT_TOKEN and ${present.join(', ')} exclude each other: one workspace, or many.`);
  } else if (botToken !== undefined && botToken.startsWith('xapp-')) {
    problems.push('SLACK_BOT_TOKEN holds an app token (xapp-): the bot token begins with xoxb-.');
  } else if (botToken === undefined) {
    for (const name of oauth) {
      if (text(name) === undefined)
        problems.push(`${name} is missing (Basic Information → App Credentials).`);
    }
  }
  if (botToken !== undefined) return { kind: 'single', botToken: new Secret(botToken) };
  return {
    kind: 'oauth',
    clientId: text('SLACK_CLIENT_ID') ?? '',
    clientSecret: new Secret(text('SLACK_CLIENT_SECRET') ?? ''),
    stateSecret: new Secret(text('SLACK_STATE_SECRET') ?? ''),
  };
}

/** https everywhere; plain http only to this machine, for local tests. */
const address = z.string().refine(
  (value) => {
    if (!URL.canParse(value)) return false;
    const url = new URL(value);
    if (url.username || url.password) return false;
    return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  },
  { error: 'must be an https:// address (http:// only for this machine), without a user name in it' },
);

const port = z.coerce
  .number({ error: 'must be a port number' })
  .int({ error: 'must be a port number' })
  .min(0, { error: 'must be a port number' })
  .max(65_535, { error: 'must be a port number' });

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}
