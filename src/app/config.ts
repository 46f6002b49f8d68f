import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseKeyring } from '../auth/keyring/keyring.ts';
import { UserError } from '../errors.ts';
import { unquote } from '../lib/environment.ts';
import { Secret } from '../secrets/secret.ts';
import type { Installing } from '../slack/installations.ts';
import { logLevels } from '../telemetry/log.ts';

/** `web` answers Slack, `worker` runs jobs, `all` does both. */
export type Role = 'web' | 'worker' | 'all';

export type Config = ReturnType<typeof readConfig>;

export type StoreConfig = ReturnType<typeof toStoreConfig>;

export type CdnConfig = ReturnType<typeof toCdn>;

const secret = (shape = z.string()) => shape.transform((value) => new Secret(value)).optional();

const list = (pattern: RegExp, problem: string) =>
  z
    .string()
    .transform((text) => text.split(/[\s,]+/u).filter(Boolean))
    .refine((ids) => ids.every((id) => pattern.test(id)), problem)
    .default([]);

const address = z
  .string()
  .refine(
    isAddress,
    'must be an https:// address (http:// only for this machine), without a user name in it',
  );

const panelPage = (part = '{id}') =>
  z
    .string()
    .refine(
      (value) => value === 'none' || (isAddress(value) && value.includes(part)),
      `must be an https:// address${part && ` with ${part} in it`}, or none`,
    )
    .transform((value) => (value === 'none' ? undefined : value));

const port = z.coerce
  .number('must be a port number')
  .refine((number) => Number.isInteger(number) && number >= 0 && number <= 65_535, 'must be a port number');

// The driver takes a mode that it does not know for none, and connects without encryption.
const tlsModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'] as const;
const tlsMode = z.enum(tlsModes, `must be one of ${tlsModes.join(', ')}`).optional();

const storeVariables = z.object({
  DATABASE_URL: secret(
    z
      .string()
      .regex(
        /^postgres(ql)?:\/\//,
        'must begin with postgres:// (leave it out to use the embedded database)',
      ),
  ),
  PGSSLMODE: tlsMode,
  DATA_DIR: z.string().default('./data'),
  ENCRYPTION_KEYS: secret(),
  ENCRYPTION_KEYS_FILE: z.string().optional(),
  ENCRYPTION_KEYS_COMMAND: z.string().optional(),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
});

const cdnVariables = z.object({
  CDN_API_URL: address.default('https://api.bunny.net'),
  CDN_ORIGIN_LOGGING_URL: address.default('https://cdn-origin-logging.bunny.net'),
});

const variables = storeVariables.extend({
  ...cdnVariables.shape,
  SLACK_API_URL: address
    .transform((url) => (url.endsWith('/') ? url : `${url}/`))
    .default('https://slack.com/api/'),
  SLACK_APP_TOKEN: secret(
    z.string().startsWith('xapp-', 'must begin with xapp- (Basic Information → App-Level Tokens)'),
  ),
  SLACK_SIGNING_SECRET: secret(
    z
      .string()
      .regex(
        /^[0-9a-f]{32}$/i,
        'must be 32 hexadecimal digits: copy “Signing Secret” from Basic Information → App Credentials',
      ),
  ),
  SLACK_BOT_TOKEN: secret(
    z
      .string()
      .regex(
        /^(?:xoxe\.)?xoxb-/,
        'must begin with xoxb-: copy “Bot User OAuth Token” from OAuth & Permissions, not an app, user or configuration token',
      ),
  ),
  SLACK_CLIENT_ID: z.string().optional(),
  SLACK_CLIENT_SECRET: secret(),
  // A short one is guessed from one OAuth state that was seen.
  SLACK_STATE_SECRET: secret(
    z.string().min(16, 'is too short: at least 16 characters (make one with: openssl rand -hex 32)'),
  ),
  ALLOWED_WORKSPACES: list(
    /^[TE][A-Z0-9]+$/,
    'must be IDs of workspaces or organizations such as T012AB3CD, with commas between them',
  ),
  // The panel's pages as public repositories link to them; the service documents none.
  PANEL_URL_ZONE: panelPage().prefault('https://dash.bunny.net/cdn/{id}'),
  PANEL_URL_APP: panelPage().prefault('https://dash.bunny.net/magic-containers/apps/{id}'),
  PANEL_URL_SCRIPT: panelPage().prefault('https://dash.bunny.net/scripts/{id}'),
  PANEL_URL_STORAGE: panelPage().prefault('https://dash.bunny.net/storage/{id}/file-manager'),
  PANEL_URL_KEYS: panelPage('').prefault('https://dash.bunny.net/account/api-key'),
  ADMIN_USER_IDS: list(
    /^(?:[TE][A-Z0-9]+\/)?[UW][A-Z0-9]+$/,
    'must be user IDs such as U012AB3CD, with commas between them (Slack: profile → ⋮ → Copy member ID)',
  ),
  PORT: port.default(3000),
  METRICS_PORT: port.optional(),
  PUBLIC_URL: address.optional(),
  // Spans hold no secret, and collectors of a cluster have no certificate.
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
    .optional(),
  OTEL_EXPORTER_OTLP_HEADERS: secret(),
});

type Env = Readonly<Record<string, string | undefined>>;

/** @throws UserError with one line a problem, each missing or wrong variable at once; never a value */
export function readConfig(env: Env) {
  const read = parse(env, variables, (given) => [...findSlackProblems(given), ...findStoreProblems(given)]);
  return {
    ...toStoreConfig(read),
    slack: {
      apiUrl: read.SLACK_API_URL,
      appToken: read.SLACK_APP_TOKEN,
      signingSecret: read.SLACK_SIGNING_SECRET,
      installing: toInstalling(read),
    },
    cdn: toCdn(read),
    panel: {
      zone: read.PANEL_URL_ZONE,
      app: read.PANEL_URL_APP,
      script: read.PANEL_URL_SCRIPT,
      storage: read.PANEL_URL_STORAGE,
      keys: read.PANEL_URL_KEYS,
    },
    /** User ids that are admins whatever Slack says: `U…`, or `T…/U…` for one workspace only. */
    adminIds: read.ADMIN_USER_IDS,
    traces: read.OTEL_EXPORTER_OTLP_ENDPOINT
      ? { endpoint: read.OTEL_EXPORTER_OTLP_ENDPOINT, headers: read.OTEL_EXPORTER_OTLP_HEADERS }
      : undefined,
    web: { port: read.PORT, metricsPort: read.METRICS_PORT, publicUrl: read.PUBLIC_URL },
  };
}

export function readStoreConfig(env: Env, { needsKeyring = true } = {}): StoreConfig {
  return toStoreConfig(parse(env, storeVariables, (given) => findStoreProblems(given, needsKeyring)));
}

export function readCdnConfig(env: Env): CdnConfig {
  return toCdn(parse(env, cdnVariables, () => []));
}

function toCdn(read: z.output<typeof cdnVariables>) {
  return { apiUrl: read.CDN_API_URL, originLoggingUrl: read.CDN_ORIGIN_LOGGING_URL };
}

function parse<T>(env: Env, schema: z.ZodType<T>, findProblems: (given: Env) => readonly string[]): T {
  const { given, problems, unread } = readFiles(readValues(env));
  const { data, error } = schema.safeParse(given);
  problems.push(...(error?.issues.map(({ path, message }) => `${path.join('.')} ${message}.`) ?? []));
  // What its file does not tell is not missing as well.
  problems.push(...findProblems({ ...given, ...Object.fromEntries(unread.map((name) => [name, 'unread'])) }));
  if (data !== undefined && problems.length === 0) return data;
  throw new UserError(
    `The bot cannot start:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    'docs/configuration.md says where each value comes from. To try everything without Slack: npm run playground',
  );
}

function readValues(env: Env): Env {
  return Object.fromEntries(Object.entries(env).map(([name, value = '']) => [name, unquote(value)]));
}

/** Secrets that `NAME_FILE` may hold in place of `NAME`. ENCRYPTION_KEYS_FILE is watched by the keyring itself. */
export const secretNames =
  `DATABASE_URL SLACK_APP_TOKEN SLACK_SIGNING_SECRET SLACK_BOT_TOKEN SLACK_CLIENT_SECRET SLACK_STATE_SECRET
  OTEL_EXPORTER_OTLP_HEADERS`.split(/\s+/u);

function readFiles(env: Env) {
  const problems: string[] = [];
  const unread: string[] = [];
  const read: Record<string, string> = {};
  for (const name of secretNames) {
    const path = env[`${name}_FILE`];
    if (path === undefined) continue;
    if (env[name] !== undefined) problems.push(`Set either ${name} or ${name}_FILE, not both.`);
    try {
      const text = readFileSync(path, 'utf8').trim();
      if (text === '') throw Object.assign(new Error('empty'), { code: 'it is empty' });
      read[name] = text;
    } catch (error) {
      unread.push(name);
      problems.push(`${name}_FILE: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
    }
  }
  return { given: { ...env, ...readValues(read) }, problems, unread };
}

function findSlackProblems(given: Env): string[] {
  const oauth = ['SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET', 'SLACK_STATE_SECRET'];
  const present = oauth.filter((name) => given[name] !== undefined);
  const problems: string[] = [];
  if (!given['SLACK_APP_TOKEN'] && !given['SLACK_SIGNING_SECRET']) {
    problems.push(
      'SLACK_APP_TOKEN (Socket Mode: Basic Information → App-Level Tokens, scope connections:write) ' +
        'or SLACK_SIGNING_SECRET (HTTP: Basic Information → App Credentials) is missing.',
    );
  }
  if (given['SLACK_BOT_TOKEN']) {
    if (present.length > 0)
      problems.push(`Set either SLACK_BOT_TOKEN (one workspace) or ${present.join(', ')} (many).`);
  } else if (present.length === 0) {
    problems.push(
      'SLACK_BOT_TOKEN is missing (OAuth & Permissions → Bot User OAuth Token). ' +
        `For many workspaces set ${oauth.join(', ')} instead.`,
    );
  } else {
    const missing = oauth.filter((name) => !present.includes(name));
    problems.push(...missing.map((name) => `${name} is missing (Basic Information → App Credentials).`));
  }
  return problems;
}

function findStoreProblems(given: Env, needsKeyring = true): string[] {
  const keys = given['ENCRYPTION_KEYS'];
  const sources = ['ENCRYPTION_KEYS', 'ENCRYPTION_KEYS_FILE', 'ENCRYPTION_KEYS_COMMAND'];
  const set = sources.filter((name) => given[name] !== undefined);
  const problems: string[] = [];
  if (given['DATABASE_URL'] && needsKeyring && set.length === 0) {
    problems.push(
      'ENCRYPTION_KEYS or ENCRYPTION_KEYS_FILE is missing: with DATABASE_URL every replica needs the same keys ' +
        '(make one with: echo "k1:$(openssl rand -base64 32)").',
    );
  }
  const mode = URL.parse(given['DATABASE_URL'] ?? '')?.searchParams.get('sslmode') ?? undefined;
  const { error } = tlsMode.safeParse(mode);
  if (error) problems.push(`sslmode in DATABASE_URL ${error.issues[0]?.message}.`);
  if (set.length > 1) problems.push(`Set only one of ${set.join(' and ')}.`);
  try {
    if (keys) parseKeyring(new Secret(keys), 'ENCRYPTION_KEYS');
  } catch (failure) {
    if (!(failure instanceof UserError)) throw failure;
    problems.push(`${failure.message} ${failure.hint}`);
  }
  return problems;
}

function toStoreConfig(read: z.output<typeof storeVariables>) {
  return {
    store: { databaseUrl: read.DATABASE_URL, dataDir: read.DATA_DIR },
    keyring: {
      keys: read.ENCRYPTION_KEYS,
      file: read.ENCRYPTION_KEYS_FILE,
      command: read.ENCRYPTION_KEYS_COMMAND,
    },
    logLevel: read.LOG_LEVEL,
  };
}

function toInstalling(read: z.output<typeof variables>): Installing {
  const { SLACK_BOT_TOKEN: botToken, SLACK_CLIENT_ID: clientId, SLACK_CLIENT_SECRET: clientSecret } = read;
  const stateSecret = read.SLACK_STATE_SECRET;
  if (botToken) return { kind: 'single', botToken };
  if (!clientId || !clientSecret || !stateSecret) throw new Error('findSlackProblems found nothing missing');
  return { kind: 'oauth', clientId, clientSecret, stateSecret, allowed: read.ALLOWED_WORKSPACES };
}

/** https everywhere; plain http only to this machine, for local tests. */
function isAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  if (username || password) return false;
  const isLoopback = /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback);
}
