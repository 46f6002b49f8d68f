import type { CdnClient } from '../../api/cdn.ts';
import { ApiError } from '../../api/http/errors.ts';
import { UserError } from '../../errors.ts';
import { explainNetworkFailure } from '../../lib/network-failure.ts';
import { findProxy } from '../../lib/proxy.ts';
import { hourMs, toUtcDay } from '../../lib/time.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { NativeSupport } from '../../slack/send/native-blocks.ts';
import type { Database } from '../../store/database.ts';
import { pluralize } from '../../views/blocks/format.ts';
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
  readonly findWorkspace?: () => Promise<Workspace | undefined>;
  readonly support?: Pick<NativeSupport, 'list' | 'record'> | undefined;
  readonly probe?: string | undefined;
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

export interface Workspace {
  readonly token: Secret;
  readonly channels: readonly string[];
}

const timeoutMs = 5_000;

const signedAddresses = [
  {
    path: '/slack/events',
    check: 'event address',
    taken: 'takes signed deliveries; Slack needs {url} for the command, events, interactivity and menus',
    lost: { state: 'failed', says: 'does not take Slack’s deliveries' },
  },
  {
    path: '/mcp',
    check: 'assistant address',
    taken: 'takes signed calls of tools at {url}',
    lost: { state: 'limited', says: 'Slack’s assistant cannot call tools' },
  },
] as const;

/** Whether PUBLIC_URL leads to a bot that runs and takes what Slack signs. */
export async function checkAddresses({ config, fetch }: Subject): Promise<Finding[]> {
  const { slack, web } = config;
  if (web.publicUrl === undefined)
    return [{ check: 'public address', state: 'skipped', says: 'PUBLIC_URL is not set' }];
  const base = web.publicUrl.replace(/\/+$/u, '');
  const ask = (path: string, method: string): Promise<string> =>
    fetch(`${base}${path}`, { method, signal: AbortSignal.timeout(timeoutMs) })
      .then(async (answer) => (answer.ok ? (await answer.text()).slice(0, 60) : `HTTP ${answer.status}`))
      .catch((error: unknown) => describeUnreached(error, base).says);
  const answer = await ask('/healthz', 'GET');
  if (!answer.startsWith('ok'))
    return [
      {
        check: 'public address',
        state: 'failed',
        says: `does not reach the bot: ${answer}`,
        fix: 'Start the bot, and have the proxy pass requests of PUBLIC_URL to its PORT.',
      },
    ];
  const asked = signedAddresses.filter(({ path }) =>
    path === '/mcp' ? slack.signingSecret : !slack.appToken,
  );
  const signed = asked.map(async ({ path, check, taken, lost }): Promise<Finding> => {
    // A request without a signature is refused there.
    const status = await ask(path, 'POST');
    if (status === 'HTTP 401') return { check, state: 'ok', says: taken.replace('{url}', `${base}${path}`) };
    const fix = `Have the proxy pass POST requests of ${path} to the bot, body and headers unchanged.`;
    return { check, state: lost.state, says: `${lost.says}: ${status}`, fix };
  });
  return [{ check: 'public address', state: 'ok', says: 'reaches the bot' }, ...(await Promise.all(signed))];
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

export async function checkHost(
  fetch: Subject['fetch'],
  whose: string,
  url: string,
  variable?: string,
): Promise<Finding> {
  const check = `${whose} ${new URL(url).host}`;
  const proxy = findProxy(url);
  const way = proxy === undefined ? 'directly' : `by the proxy ${proxy}`;
  try {
    // Without a key any answer will do.
    await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    return { check, state: 'ok', says: `answers, ${way}` };
  } catch (error) {
    const { says, fix } = describeUnreached(error, url);
    return {
      check,
      state: 'failed',
      says: says.includes('proxy') ? says : `${says} It is asked ${way}.`,
      fix: variable === undefined ? fix : `${fix} ${variable} holds the address.`,
    };
  }
}

export function describeUnreached(error: unknown, url: string): { says: string; fix: string } {
  const failure = explainNetworkFailure(error, url);
  return failure
    ? { says: failure.message, fix: failure.hint }
    : { says: `${new URL(url).host} does not answer.`, fix: 'Check the address and the bot’s network.' };
}

export async function checkKey(
  cdn: { withKey(key: Secret): CdnClient },
  key: Secret,
  keysAt: string | undefined,
): Promise<Finding> {
  const check = 'cdn key';
  try {
    const { total, zones } = await cdn.withKey(key).pullZones.firstPage();
    return { check, state: 'ok', says: `sees ${total ?? zones.length} pull zones` };
  } catch (error) {
    return { check, ...describeRefusedByCdn(error, keysAt) };
  }
}

function describeRefusedByCdn(error: unknown, keysAt?: string): Omit<Finding, 'check'> {
  if (error instanceof UserError) return { state: 'failed', says: error.message };
  if (!(error instanceof ApiError)) throw error;
  const { network, code, status, requestId } = error;
  if (network) return { state: 'failed', says: network.message, fix: network.hint };
  const details = [status && `HTTP ${status}`, requestId && `request ${requestId}`]
    .filter(Boolean)
    .join(', ');
  // Only a refused key is about the key.
  const copyKey = `Copy the key from ${keysAt ?? 'the control panel'} again; resetting it there disables the old one.`;
  const fix = code === 'key_refused' ? copyKey : 'Try again in a minute.';
  return { state: 'failed', says: details ? `${code} (${details})` : code, fix };
}

export interface Examples {
  zone?: string | undefined;
  app?: string | undefined;
  readonly 'shield-zone'?: string | undefined;
}

const lacking: Readonly<Record<keyof Examples, string>> = {
  zone: 'no pull zone is known; give --zone',
  app: 'no pull zone uses an app; give --app',
  'shield-zone': 'give --shield-zone',
};

type Call = (cdn: CdnClient, id: string, now: Date, examples: Examples) => Promise<string>;

/** The operations that read: what each needs, and what came, without a value of the account. */
const operations: readonly (readonly [name: string, needs: keyof Examples | undefined, call: Call])[] = [
  [
    'List Pull Zones',
    undefined,
    async (cdn, _id, _now, examples) => {
      const { zones, skipped } = await cdn.pullZones.all();
      examples.zone ??= zones[0]?.id;
      examples.app ??= zones.find(({ appId }) => appId !== undefined)?.appId;
      return `${pluralize(zones.length, 'zone')}${skipped > 0 ? `, ${skipped} unreadable` : ''}`;
    },
  ],
  ['List API Keys', undefined, async (cdn) => pluralize((await cdn.apiKeys.list()).keys.length, 'key')],
  [
    'Get origin error logs',
    'zone',
    async (cdn, id, now) => {
      const day = await cdn.originErrors.forEach(id, toUtcDay(now), () => undefined);
      return `${pluralize(day.entries, 'entry', 'entries')} today`;
    },
  ],
  [
    'Get Application Usage Summary',
    'app',
    async (cdn, id) => pluralize((await cdn.apps.summary(id)).latencyChart.length, 'latency value'),
  ],
  [
    'Get upload scanning metrics',
    'shield-zone',
    async (cdn, id) => pluralize((await cdn.uploadScanning.metrics(id)).days.length, 'day'),
  ],
  [
    'Export Event Logs as CSV',
    'shield-zone',
    async (cdn, id, now) => {
      const { body } = await cdn.eventLogs.export(id, { from: new Date(now.getTime() - hourMs), to: now });
      let bytes = 0;
      for await (const chunk of body) bytes += chunk.length;
      return `${pluralize(bytes, 'byte')} of the last hour`;
    },
  ],
];

export async function checkOperations(cdn: CdnClient, examples: Examples, now: Date): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [check, needs, call] of operations) {
    const id = needs && examples[needs];
    if (needs && id === undefined) {
      findings.push({ check, state: 'skipped', says: lacking[needs] });
      continue;
    }
    const start = performance.now();
    const ms = (): number => Math.round(performance.now() - start);
    const found = await call(cdn, id ?? '', now, examples).then(
      (came) => ({ state: 'ok', says: `${came}, ${ms()} ms` }) as const,
      (error: unknown) => describeRefusedByCdn(error),
    );
    findings.push({ check, ...found });
  }
  return findings;
}
