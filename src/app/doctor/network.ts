import type { CdnClient } from '../../api/cdn.ts';
import { ApiError } from '../../api/http/errors.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { Finding } from '../../views/doctor.ts';
import type { Config } from '../config.ts';

interface Options {
  readonly config: Pick<Config, 'cdn' | 'web'>;
  readonly fetch: typeof globalThis.fetch;
}

interface Keyed {
  readonly cdn: { withKey(key: Secret): CdnClient };
}

const timeoutMs = 5_000;

/** Whether PUBLIC_URL leads to a bot that runs. */
export async function checkPublicUrl({ config, fetch }: Options): Promise<Finding> {
  const check = 'public address';
  const { publicUrl } = config.web;
  if (publicUrl === undefined) return { check, state: 'skipped', says: 'PUBLIC_URL is not set' };
  const answer = await fetch(`${publicUrl.replace(/\/+$/u, '')}/healthz`, {
    signal: AbortSignal.timeout(timeoutMs),
  })
    .then(async (response) => (response.ok ? await response.text() : `HTTP ${response.status}`))
    .catch(() => 'no answer');
  if (answer.startsWith('ok')) return { check, state: 'ok', says: 'reaches the bot' };
  const fix = 'Start the bot, and have the proxy pass requests of PUBLIC_URL to its PORT.';
  return { check, state: 'failed', says: `does not reach the bot (${answer.slice(0, 60)})`, fix };
}

/** The CDN's hosts, and a key if there is one. */
export async function checkCdn(
  { config, fetch, cdn }: Options & Keyed,
  key: Secret | undefined,
): Promise<Finding[]> {
  const hosts = await Promise.all(
    Object.entries({
      CDN_API_URL: config.cdn.apiUrl,
      CDN_ORIGIN_LOGGING_URL: config.cdn.originLoggingUrl,
    }).map(async ([variable, url]): Promise<Finding> => {
      const check = `cdn ${new URL(url).host}`;
      // Without a key any answer will do.
      const answers = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).then(
        () => true,
        () => false,
      );
      if (answers) return { check, state: 'ok', says: 'answers' };
      return {
        check,
        state: 'failed',
        says: 'does not answer',
        fix: `Allow https to it, or check ${variable}.`,
      };
    }),
  );
  return key === undefined ? hosts : [...hosts, await checkKey(cdn, key)];
}

async function checkKey(cdn: Keyed['cdn'], key: Secret): Promise<Finding> {
  const check = 'cdn key';
  try {
    const { total, zones } = await cdn.withKey(key).pullZones.firstPage();
    return { check, state: 'ok', says: `sees ${total ?? zones.length} pull zones` };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const fix = 'Copy the key from the control panel again.';
    return { check, state: 'failed', says: error.message, fix };
  }
}
