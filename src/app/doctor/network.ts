import { WebClient } from '@slack/web-api';
import { sql } from 'kysely';
import { z } from 'zod';
import type { CdnClient } from '../../api/cdn.ts';
import { ApiError } from '../../api/http/errors.ts';
import { UserError } from '../../errors.ts';
import { explainNetworkFailure } from '../../lib/network-failure.ts';
import { findProxy } from '../../lib/proxy.ts';
import type { Secret } from '../../secrets/secret.ts';
import { readSlackError, type Scope, scopes } from '../../slack/installations.ts';
import { describeApiError } from '../../slack/receive/failures.ts';
import { createLibraryLog, createSlackClock } from '../../slack/send/clients.ts';
import type { NativeBlocks } from '../../slack/send/native-blocks.ts';
import type { Database } from '../../store/database.ts';
import { createLogger } from '../../telemetry/log.ts';
import { stripMarkup } from '../../views/blocks/text.ts';
import type { Finding } from '../../views/doctor.ts';
import type { Config } from '../config.ts';
import type { createDriftWatch } from '../drift.ts';

export interface Subject {
  readonly config: Config;
  readonly fetch: typeof globalThis.fetch;
  /** Lets tokens out to Slack only. */
  readonly slackFetch: typeof globalThis.fetch;
  readonly now: () => Date;
  /** Undefined where it is not open; then `closed` says why. */
  readonly database: Database | undefined;
  readonly closed?: Finding | undefined;
  /** Undefined where the bot serves many, and none of them asks. */
  readonly workspace?: { readonly token: Secret; readonly channels: readonly string[] } | undefined;
  readonly native?: Pick<NativeBlocks, 'find'> | undefined;
  readonly key?: Secret | undefined;
  /** Where answers of the CDN differed from the specification; undefined where none are seen. */
  readonly drift?: Pick<ReturnType<typeof createDriftWatch>, 'report' | 'examine'>;
  readonly running?: {
    readonly verifyToken: () => Promise<void>;
    /** Why the database or its keyring cannot be used; asked once while it is unanswered. */
    readonly findStoreProblem: () => Promise<string | undefined>;
    readonly slackConnections: () => number | undefined;
    readonly findSlackProblem?: () => string | undefined;
    readonly findSkew: () => Promise<number | undefined>;
  };
}

const timeoutMs = 5_000;

/** What PUBLIC_URL has to lead to. Paths that take signed requests refuse one without a signature. */
const addresses = [
  {
    check: 'public address',
    path: '/healthz',
    method: 'GET',
    expected: /^ok/u,
    reached: 'reaches the bot',
    lost: { state: 'failed', says: 'does not reach the bot' },
  },
  {
    check: 'event address',
    path: '/slack/events',
    method: 'POST',
    expected: /^HTTP 401$/u,
    reached: 'takes signed deliveries; Slack needs {url} for the command, events, interactivity and menus',
    lost: { state: 'failed', says: 'does not take Slack’s deliveries' },
  },
  {
    check: 'assistant address',
    path: '/mcp',
    method: 'POST',
    expected: /^HTTP 401$/u,
    reached: 'accepts signed tool calls at {url}',
    lost: { state: 'limited', says: 'Slack’s assistant cannot call tools' },
  },
] as const;

/** Whether PUBLIC_URL leads to a bot that runs and takes what Slack signs. */
export async function checkAddresses({ config, fetch }: Subject): Promise<Finding[]> {
  const { slack, web } = config;
  if (web.publicUrl === undefined)
    return [{ check: 'public address', state: 'skipped', says: 'PUBLIC_URL is not set' }];
  const base = web.publicUrl.replace(/\/+$/u, '');
  const isUsed = { '/healthz': true, '/slack/events': !slack.appToken, '/mcp': slack.signingSecret };
  const asked = addresses.filter(({ path }) => isUsed[path]);
  return Promise.all(
    asked.map(async ({ check, path, method, expected, reached, lost }): Promise<Finding> => {
      const url = `${base}${path}`;
      const answer = await fetch(url, { method, signal: AbortSignal.timeout(timeoutMs) })
        .then(async (got) => (got.ok ? (await got.text()).slice(0, 60) : `HTTP ${got.status}`))
        .catch((error: unknown) => describeUnreached(error, base).says);
      if (expected.test(answer)) return { check, state: 'ok', says: reached.replace('{url}', url) };
      const fix =
        'Start the bot, and have the proxy pass requests of PUBLIC_URL to its PORT, body and headers unchanged.';
      return { check, state: lost.state, says: `${lost.says}: ${answer}`, fix };
    }),
  );
}

export async function checkHosts({ config, fetch }: Subject): Promise<Finding[]> {
  const { slack, cdn, traces } = config;
  const isSlack = new URL(slack.apiUrl).host === 'slack.com';
  return Promise.all([
    checkHost(fetch, 'slack', slack.apiUrl, 'SLACK_API_URL'),
    ...(isSlack
      ? ['files', 'hooks'].map((host) => checkHost(fetch, 'slack', `https://${host}.slack.com`))
      : []),
    checkHost(fetch, 'cdn', cdn.apiUrl, 'CDN_API_URL'),
    checkHost(fetch, 'cdn', cdn.originLoggingUrl, 'CDN_ORIGIN_LOGGING_URL'),
    ...(traces ? [checkHost(fetch, 'traces', traces.endpoint, 'OTEL_EXPORTER_OTLP_ENDPOINT')] : []),
  ]);
}

async function checkHost(
  fetch: Subject['fetch'],
  whose: string,
  url: string,
  variable?: string,
): Promise<Finding> {
  const check = `${whose} ${new URL(url).host}`;
  const proxy = findProxy(url);
  const way = proxy === undefined ? 'directly' : `through the proxy ${proxy}`;
  try {
    // Without a key any answer will do.
    await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    return { check, state: 'ok', says: `answers, ${way}` };
  } catch (error) {
    const { says, fix } = describeUnreached(error, url);
    return {
      check,
      state: 'failed',
      says: says.includes('proxy') ? says : `${says} The bot connects ${way}.`,
      fix: variable === undefined ? fix : `${fix} ${variable} holds the address.`,
    };
  }
}

function describeUnreached(error: unknown, url: string): { says: string; fix: string } {
  const failure = explainNetworkFailure(error, url);
  return failure
    ? { says: failure.message, fix: failure.hint }
    : { says: `${new URL(url).host} does not answer.`, fix: 'Check the address and the bot’s network.' };
}

export async function checkKey(cdn: { withKey(key: Secret): CdnClient }, key: Secret): Promise<Finding> {
  const check = 'cdn key';
  try {
    const { total, zones } = await cdn.withKey(key).pullZones.firstPage();
    return { check, state: 'ok', says: `sees ${total ?? zones.length} pull zones` };
  } catch (error) {
    return { check, ...describeRefusedByCdn(error) };
  }
}

export function describeRefusedByCdn(error: unknown): Omit<Finding, 'check'> {
  if (error instanceof UserError) return { state: 'failed', says: error.message };
  if (!(error instanceof ApiError)) throw error;
  const { message, hint } = describeApiError(error);
  return { state: 'failed', says: stripMarkup(message), fix: stripMarkup(hint) };
}

type Options = Pick<Subject, 'config' | 'slackFetch'>;

export async function checkWorkspace(subject: Subject): Promise<Finding[]> {
  const { workspace } = subject;
  const check = 'slack token';
  if (!workspace) return [{ check, state: 'skipped', says: 'several workspaces: type /cdn doctor in each' }];
  const { token, channels } = workspace;
  const client = createClient(token, subject);
  const answer = await client.auth.test().catch((error: unknown) => {
    const fix = 'Copy the Bot User OAuth Token again: api.slack.com/apps → your app → OAuth & Permissions.';
    return describeFailure(error, subject, fix);
  });
  if ('fix' in answer) return [{ check, state: 'failed', ...answer }];
  const given = z.array(z.string()).catch([]).parse(answer.response_metadata?.scopes);
  const tenant = (answer.is_enterprise_install ? answer.enterprise_id : answer.team_id) ?? '';
  const found: Finding[] = [
    { check, state: 'ok', says: `accepted by ${answer.team}` },
    ...checkScopes(given, subject),
  ];
  for (const channel of channels) found.push(await checkChannel(client, channel, subject));
  return [...found, ...describeNativeBlocks(tenant, subject)];
}

function createClient(token: Secret, { config, slackFetch }: Options): WebClient {
  return new WebClient(token.reveal(), {
    slackApiUrl: config.slack.apiUrl,
    allowAbsoluteUrls: false,
    fetch: slackFetch,
    timeout: 5_000,
    retryConfig: { retries: 1 },
    // The findings tell what fails.
    logger: createLibraryLog(createLogger('silent')),
  });
}

function checkScopes(given: readonly string[], { config }: Options): Finding[] {
  const lacking = Object.entries<Scope>(scopes).filter(([scope]) => !given.includes(scope));
  const isShared = config.slack.installing.kind === 'oauth';
  const name = isShared
    ? 'manifest.distribution.yml (or, in one organization, manifest.yml)'
    : 'manifest.yml';
  const fix = `Paste ${name} under App Manifest again and reinstall the app.`;
  const found = lacking.map(
    ([scope, { lost, optional = false }]): Finding => ({
      check: `scope ${scope}`,
      state: optional ? 'limited' : 'failed',
      says: `not granted; without it: ${lost}`,
      fix,
    }),
  );
  if (found.length === 0) found.push({ check: 'scopes', state: 'ok', says: 'all are granted' });
  // Only where Slack's assistant could reach the bot.
  if (config.web.publicUrl === undefined || !config.slack.signingSecret) return found;
  const check = 'scope mcp:connect';
  if (given.includes('mcp:connect'))
    return [...found, { check, state: 'ok', says: 'granted, for Slack’s assistant' }];
  const says = 'not granted: Slack’s assistant has no tools of the bot (docs/assistant.md)';
  return [...found, { check, state: 'skipped', says }];
}

export async function checkAppToken(subject: Subject): Promise<Finding[]> {
  const check = 'socket mode';
  const { apiUrl, appToken } = subject.config.slack;
  if (!appToken) return [];
  let socket = new URL(apiUrl).host === 'slack.com' ? 'wss://wss-primary.slack.com' : undefined;
  const findings: Finding[] = [];
  try {
    socket = (await createClient(appToken, subject).apps.connections.open()).url ?? socket;
    findings.push({ check, state: 'ok', says: 'the app token opens connections' });
  } catch (error) {
    const fix = 'SLACK_APP_TOKEN needs the scope connections:write, and the app Socket Mode enabled.';
    findings.push({ check, state: 'failed', ...describeFailure(error, subject, fix) });
  }
  if (socket === undefined || new URL(socket).host === new URL(apiUrl).host) return findings;
  const { origin } = new URL(socket.replace(/^ws/u, 'http'));
  return [...findings, await checkHost(subject.fetch, 'slack', origin)];
}

export function checkConnections({ running }: Subject): Finding[] {
  const check = 'connections';
  const count = running?.slackConnections();
  if (count === undefined) return [];
  const silent = count === 0 ? 'no connection to Slack has delivered anything for 15 s' : undefined;
  const says = [silent, running?.findSlackProblem?.()].filter((one) => one !== undefined).join(': ');
  return [says === '' ? { check, state: 'ok', says: `${count} open` } : { check, state: 'failed', says }];
}

/** Below Slack's own limit of five minutes for the age of a delivery. */
const maxSkewSeconds = 240;

export async function checkClock(subject: Subject): Promise<Finding[]> {
  const check = 'clock';
  const { apiUrl } = subject.config.slack;
  const skew = await (subject.running?.findSkew() ??
    createSlackClock({ apiUrl, fetch: subject.slackFetch, now: subject.now }).refresh());
  // Whether Slack can be reached is another question.
  if (skew === undefined) return [{ check, state: 'skipped', says: 'Slack did not tell its time' }];
  const seconds = Math.round(skew);
  if (Math.abs(seconds) <= maxSkewSeconds) return [{ check, state: 'ok', says: `${seconds} s from Slack’s` }];
  const where = seconds > 0 ? 'ahead of' : 'behind';
  const says = `this machine’s clock is ${Math.abs(seconds)} s ${where} Slack’s: set it by NTP, since deliveries that seem older than five minutes are refused`;
  return [{ check, state: 'failed', says, fix: 'Set the clock by NTP.' }];
}

async function checkChannel(client: WebClient, channel: string, options: Options): Promise<Finding> {
  const check = `channel ${channel}`;
  const fix = 'Type /invite @cdn there, or choose another channel.';
  try {
    const { channel: found } = await client.conversations.info({ channel });
    if (found?.is_archived) return { check, state: 'failed', says: 'is archived', fix };
    if (found?.is_member) return { check, state: 'ok', says: 'the bot is a member' };
    return { check, state: 'failed', says: 'the bot is not a member', fix };
  } catch (error) {
    if (readSlackError(error) === 'missing_scope')
      return { check, state: 'skipped', says: 'without channels:read membership is not known' };
    return { check, state: 'failed', ...describeFailure(error, options, fix) };
  }
}

const ways: Readonly<Record<string, string>> = {
  'chat.postMessage': 'messages',
  'chat.update': 'edited messages',
  'chat.postEphemeral': 'private answers without an address',
  response_url: 'private answers',
};

function describeNativeBlocks(tenant: string, { native }: Subject): Finding[] {
  return Object.entries(ways).flatMap(([method, name]): Finding[] => {
    const list = (isTaken: boolean): string =>
      (['chart', 'table'] as const)
        .flatMap((kind) => (native?.find(tenant, method, kind) === isTaken ? [`${kind}s`] : []))
        .join(' and ');
    const check = `charts and tables in ${name}`;
    const [shown, refused] = [list(true), list(false)];
    if (refused !== '')
      return [
        {
          check,
          state: 'limited',
          says: `Slack shows no ${refused}; answers come in words`,
          fix: 'The plan of this workspace may not include them.',
        },
      ];
    return shown === '' ? [] : [{ check, state: 'ok', says: `Slack shows ${shown}` }];
  });
}

/** Slack's own word, or why it did not answer: a network error is never about the token. */
function describeFailure(error: unknown, { config }: Options, fix: string): { says: string; fix: string } {
  const code = readSlackError(error);
  return code === undefined
    ? describeUnreached(error, config.slack.apiUrl)
    : { says: `Slack says ${code}`, fix };
}

const mostChannels = 20;

/** The channels, without people, that digests and watches post to, of one tenant or of all. */
export async function findChannels({ db }: Pick<Database, 'db'>, tenant?: string): Promise<string[]> {
  const { rows } = await sql<{ channel: string }>`
    select channel from reports
    where deleted_at is null and channel ~ '^[CG]' and (${tenant ?? null}::text is null or tenant = ${tenant ?? null})
    group by channel order by channel limit ${mostChannels}`.execute(db);
  return rows.map(({ channel }) => channel);
}
