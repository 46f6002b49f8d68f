import { type Logger, LogLevel, WebClient } from '@slack/web-api';
import { z } from 'zod';
import { minuteMs } from '../../lib/time.ts';
import type { Secret } from '../../secrets/secret.ts';
import { readSlackError } from '../../slack/installations.ts';
import { type Scope, scopes } from '../../slack/scopes.ts';
import type { NativeSupport } from '../../slack/send/native-blocks.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { type Finding, probes } from '../../views/doctor.ts';

interface Options {
  readonly apiUrl: string;
  readonly appToken: Secret | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => Date;
}

interface InWorkspace {
  readonly token: Secret;
  /** Channels that digests and watches post to. */
  readonly channels: readonly string[];
  /** A person who gets charts and tables, which are taken back at once. */
  readonly probe: string | undefined;
  /** Where the outcome of the probe is kept for the bot; undefined = the database is not open. */
  readonly support: Pick<NativeSupport, 'list' | 'record'> | undefined;
}

/** Asks Slack for what the whole bot needs of it: clock and connection. */
export async function checkConnection(options: Options): Promise<Finding[]> {
  const clock = await checkClock(options);
  const { appToken } = options;
  return appToken ? [clock, await checkSocket(createClient(appToken, options))] : [clock];
}

/** Asks Slack for what the bot needs in one workspace: token, scopes, channels, native blocks. */
export async function checkWorkspace(
  { token, channels, probe, support }: InWorkspace,
  options: Pick<Options, 'apiUrl' | 'fetch'>,
): Promise<Finding[]> {
  const client = createClient(token, options);
  const { tenant, found } = await checkToken(client);
  const findings = [...found];
  if (tenant === undefined) return findings;
  for (const channel of channels) findings.push(await checkChannel(client, channel));
  const probed = probe === undefined ? undefined : await probeNativeBlocks(client, probe);
  if (probed) await support?.record(tenant, probed.seen);
  const seen = support ? await support.list(tenant) : probed?.seen;
  return [...findings, ...describeSupport(seen ?? []), ...(probed?.found ?? [])];
}

function createClient(token: Secret, { apiUrl, fetch }: Pick<Options, 'apiUrl' | 'fetch'>): WebClient {
  return new WebClient(token.reveal(), {
    slackApiUrl: apiUrl,
    allowAbsoluteUrls: false,
    fetch,
    timeout: 5_000,
    retryConfig: { retries: 1 },
    logger: silent,
  });
}

// A refusal is a finding.
const ignore = (): void => {};
export const silent: Logger = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  setLevel: ignore,
  getLevel: () => LogLevel.ERROR,
  setName: ignore,
};

/** `tenant` is undefined where the token is not accepted. */
async function checkToken(client: WebClient): Promise<{ tenant?: string; found: Finding[] }> {
  const check = 'slack token';
  try {
    const answer = await client.auth.test();
    const given = z.array(z.string()).catch([]).parse(answer.response_metadata?.scopes);
    const { team, team_id: teamId, enterprise_id: enterpriseId, is_enterprise_install: isWhole } = answer;
    return {
      tenant: (isWhole ? enterpriseId : teamId) ?? '',
      found: [{ check, state: 'ok', says: `accepted by ${team}` }, ...findLackingScopes(given)],
    };
  } catch (error) {
    const fix = 'Copy the Bot User OAuth Token again: api.slack.com/apps → your app → OAuth & Permissions.';
    return { found: [{ check, state: 'failed', says: describe(error), fix }] };
  }
}

function findLackingScopes(given: readonly string[]): Finding[] {
  const lacking = Object.entries<Scope>(scopes).filter(([scope]) => !given.includes(scope));
  if (lacking.length === 0) return [{ check: 'scopes', state: 'ok', says: 'all are granted' }];
  const fix = 'Paste manifest.yml under App Manifest again and reinstall the app.';
  return lacking.map(([scope, { lost, optional = false }]) => ({
    check: `scope ${scope}`,
    state: optional ? 'limited' : 'failed',
    says: `not granted; without it: ${lost}`,
    fix,
  }));
}

async function checkSocket(client: WebClient): Promise<Finding> {
  const check = 'socket mode';
  try {
    await client.apps.connections.open();
    return { check, state: 'ok', says: 'the app token opens connections' };
  } catch (error) {
    const fix = 'SLACK_APP_TOKEN needs the scope connections:write, and the app Socket Mode enabled.';
    return { check, state: 'failed', says: describe(error), fix };
  }
}

// Slack refuses nothing by its clock, but the bot refuses signed deliveries that are older than five minutes.
const maxSkewMs = minuteMs;

async function checkClock({ apiUrl, fetch, now }: Options): Promise<Finding> {
  const check = 'clock';
  const answer = await fetch(`${apiUrl}api.test`, {
    method: 'POST',
    signal: AbortSignal.timeout(5_000),
  }).catch(() => undefined);
  if (!answer) {
    const fix = `Allow https to ${new URL(apiUrl).host}, or check SLACK_API_URL.`;
    return { check, state: 'failed', says: 'Slack does not answer', fix };
  }
  const theirs = Date.parse(answer.headers.get('date') ?? '');
  if (Number.isNaN(theirs)) return { check, state: 'skipped', says: 'Slack’s answer has no time' };
  const skew = Math.round((now().getTime() - theirs) / 1000);
  if (Math.abs(skew) * 1000 <= maxSkewMs) return { check, state: 'ok', says: `${skew} s from Slack’s` };
  const fix = 'Set the clock by NTP: a delivery that seems older than five minutes is refused.';
  return { check, state: 'failed', says: `${skew} s from Slack’s`, fix };
}

/** `conversations.info` says whether the bot is a member; without its scope, reading says it too. */
async function checkChannel(client: WebClient, channel: string): Promise<Finding> {
  const check = `channel ${channel}`;
  const isMember: Finding = { check, state: 'ok', says: 'the bot is a member' };
  const fix = 'Type /invite @cdn there, or choose another channel.';
  try {
    const { channel: found } = await client.conversations.info({ channel });
    if (found?.is_archived) return { check, state: 'failed', says: 'is archived', fix };
    return found?.is_member ? isMember : { check, state: 'failed', says: 'the bot is no member', fix };
  } catch (error) {
    if (readSlackError(error) !== 'missing_scope')
      return { check, state: 'failed', says: describe(error), fix };
  }
  try {
    await client.conversations.history({ channel, limit: 1 });
    return isMember;
  } catch (error) {
    if (readSlackError(error) !== 'missing_scope')
      return { check, state: 'failed', says: describe(error), fix };
    const says = 'without channels:read and channels:history membership is not known';
    return { check, state: 'skipped', says };
  }
}

type Seen = Parameters<NativeSupport['record']>[1][number];

/**
 * Posts a chart and a table into the person's conversation with the bot, each once new and once as an edit, and deletes
 * them. Answers by response_url are seen when there are any.
 */
async function probeNativeBlocks(
  client: WebClient,
  userId: string,
): Promise<{ seen: Seen[]; found: Finding[] }> {
  const seen: Seen[] = [];
  const attempt = async <Sent>(method: string, kind: Seen['kind'], send: () => Promise<Sent>) => {
    try {
      const sent = await send();
      seen.push({ method, kind, taken: true });
      return sent;
    } catch (error) {
      if (readSlackError(error) !== 'invalid_blocks') throw error;
      seen.push({ method, kind, taken: false });
      return undefined;
    }
  };
  const post = async (message: Message) => {
    const { channel = '', ts = '' } = await client.chat.postMessage({ channel: userId, ...message });
    return { channel, ts };
  };
  try {
    for (const [kind, message] of Object.entries(probes)) {
      const native = kind === 'chart' ? 'chart' : 'table';
      const posted = await attempt('chat.postMessage', native, () => post(message));
      const at = posted ?? (await post({ text: message.text }));
      await attempt('chat.update', native, () => client.chat.update({ ...at, ...message }));
      await client.chat.delete(at);
    }
    return { seen, found: [] };
  } catch (error) {
    const fix = 'Look at the conversation with the bot: a chart or table of this check may still be there.';
    return { seen, found: [{ check: 'native blocks', state: 'limited', says: describe(error), fix }] };
  }
}

const ways: Readonly<Record<string, string>> = {
  'chat.postMessage': 'messages',
  'chat.update': 'changed messages',
  'chat.postEphemeral': 'private answers without an address',
  response_url: 'private answers',
};

/** What is known of charts and tables, a finding a method. */
function describeSupport(seen: Awaited<ReturnType<NativeSupport['list']>>): Finding[] {
  return Object.entries(ways).flatMap(([method, name]): Finding[] => {
    const here = seen.filter((one) => one.method === method);
    if (here.length === 0) return [];
    const list = (taken: boolean): string =>
      here.flatMap((one) => (one.taken === taken ? [`${one.kind}s`] : [])).join(' and ');
    const check = `native blocks: ${name}`;
    const refused = list(false);
    if (refused === '') return [{ check, state: 'ok', says: `take ${list(true)}` }];
    const says = `take no ${refused}; words come in their place`;
    return [{ check, state: 'limited', says, fix: 'Slack’s plan of this workspace may not have them.' }];
  });
}

function describe(error: unknown): string {
  const code = readSlackError(error);
  return code === undefined ? 'Slack does not answer' : `Slack says ${code}`;
}
