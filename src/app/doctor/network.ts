import type { CdnClient } from '../../api/cdn.ts';
import { ApiError } from '../../api/http/errors.ts';
import { explainNetworkFailure } from '../../lib/network-failure.ts';
import { findProxy } from '../../lib/proxy.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { Finding } from '../../views/doctor.ts';
import type { Subject } from './subject.ts';

const timeoutMs = 5_000;

/** Whether PUBLIC_URL leads to a bot that runs and, over signed HTTP, takes what Slack delivers. */
export async function checkAddresses({ config, fetch }: Subject): Promise<Finding[]> {
  const check = 'public address';
  const { slack, web } = config;
  if (web.publicUrl === undefined) return [{ check, state: 'skipped', says: 'PUBLIC_URL is not set' }];
  const base = web.publicUrl.replace(/\/+$/u, '');
  const answer = await fetch(`${base}/healthz`, { signal: AbortSignal.timeout(timeoutMs) })
    .then(async (response) =>
      response.ok ? (await response.text()).slice(0, 60) : `HTTP ${response.status}`,
    )
    .catch((error: unknown) => describeUnreached(error, base).says);
  const fix = 'Start the bot, and have the proxy pass requests of PUBLIC_URL to its PORT.';
  const says = `does not reach the bot: ${answer}`;
  if (!answer.startsWith('ok')) return [{ check, state: 'failed', says, fix }];
  const reached: Finding = { check, state: 'ok', says: 'reaches the bot' };
  return [
    reached,
    ...(slack.appToken ? [] : [await checkEventAddress(`${base}/slack/events`, fetch)]),
    ...(slack.signingSecret ? [await checkToolAddress(`${base}/mcp`, fetch)] : []),
  ];
}

/** Slack's one address for commands, events and interactivity: a delivery without a signature is refused there. */
async function checkEventAddress(url: string, fetch: Subject['fetch']): Promise<Finding> {
  const check = 'event address';
  const status = await postUnsigned(url, fetch);
  if (status === 'HTTP 401') {
    const says = `takes signed deliveries; Slack needs ${url} for the command, events, interactivity and menus`;
    return { check, state: 'ok', says };
  }
  const fix = 'Have the proxy pass POST requests of /slack/events to the bot, body and headers unchanged.';
  return { check, state: 'failed', says: `does not take Slack’s deliveries: ${status}`, fix };
}

/** Where Slack's assistant calls the tools: the same. */
async function checkToolAddress(url: string, fetch: Subject['fetch']): Promise<Finding> {
  const check = 'assistant address';
  const status = await postUnsigned(url, fetch);
  if (status === 'HTTP 401') return { check, state: 'ok', says: `takes signed calls of tools at ${url}` };
  const fix = 'Have the proxy pass POST requests of /mcp to the bot, body and headers unchanged.';
  return { check, state: 'limited', says: `Slack’s assistant cannot call tools: ${status}`, fix };
}

function postUnsigned(url: string, fetch: Subject['fetch']): Promise<string> {
  return fetch(url, { method: 'POST', signal: AbortSignal.timeout(timeoutMs) }).then(
    (response) => `HTTP ${response.status}`,
    (error: unknown) => describeUnreached(error, url).says,
  );
}

/** Whether the hosts of Slack, the CDN and the collector are reached, and by which way. */
export async function checkHosts({ config, fetch }: Subject): Promise<Finding[]> {
  const { slack, cdn, traces } = config;
  const others = new URL(slack.apiUrl).host === 'slack.com' ? ['files.slack.com', 'hooks.slack.com'] : [];
  const hosts: readonly Parameters<typeof checkHost>[1][] = [
    ['slack', 'SLACK_API_URL', slack.apiUrl],
    ...others.map((host) => ['slack', undefined, `https://${host}`] as const),
    ['cdn', 'CDN_API_URL', cdn.apiUrl],
    ['cdn', 'CDN_ORIGIN_LOGGING_URL', cdn.originLoggingUrl],
    ...(traces ? [['traces', 'OTEL_EXPORTER_OTLP_ENDPOINT', traces.endpoint] as const] : []),
  ];
  return Promise.all(hosts.map((host) => checkHost(fetch, host)));
}

export async function checkHost(
  fetch: Subject['fetch'],
  [whose, variable, url]: readonly [whose: string, variable: string | undefined, url: string],
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

export function describeUnreached(
  error: unknown,
  url: string,
): Pick<Finding, 'says'> & { readonly fix: string } {
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
    if (!(error instanceof ApiError)) throw error;
    // Only a refused key is about the key.
    const copyKey = `Copy the key from ${keysAt ?? 'the control panel'} again; resetting it there disables the old one.`;
    const { message, hint } = error.network ?? {
      message: error.message,
      hint: error.code === 'key_refused' ? copyKey : 'Try again in a minute.',
    };
    return { check, state: 'failed', says: message, fix: hint };
  }
}
