import { unescape } from 'node:querystring';
import { setImmediate } from 'node:timers/promises';
import { registerSecrets, type Secret } from '../secrets/secret.ts';
import { type Database, openDatabase } from '../store/database.ts';
import type { Config, Role } from './config.ts';
import type { Base, ChatApp } from './wire.ts';

export type AppOptions = Pick<Base, 'config' | 'log'> & Partial<Base> & { readonly role?: Role };

/**
 * Opens the database, which the wiring needs, and wires the app. Starts nothing else. Most of a start is loading code: the
 * database opens meanwhile, in a thread of its own.
 */
export async function buildApp({ role = 'all', ...options }: AppOptions): Promise<ChatApp> {
  const base: Base = { fetch: globalThis.fetch, now: () => new Date(), ...options };
  const { config, log } = base;
  const releaseSecrets = registerConfigSecrets(config);
  const stopTracing = await startTracing(base);
  const release = async (): Promise<void> => {
    await stopTracing?.();
    releaseSecrets();
  };
  let database: Database | undefined;
  try {
    const opening = openDatabase({ ...config.store, log });
    // A refusal is thrown below.
    opening.catch(() => undefined);
    await setImmediate();
    const { wire } = await import('./wire.ts');
    database = await opening;
    return await wire(base, role, database, release);
  } catch (error) {
    await database?.close();
    await release();
    throw error;
  }
}

/** Its packages are loaded only where a collector is configured. */
async function startTracing({ config, log }: Base): Promise<(() => Promise<void>) | undefined> {
  if (!config.traces) return undefined;
  const tracing = await import('../telemetry/tracing.ts');
  return tracing.startTracing({ ...config.traces, log });
}

/** Registers the configured secrets for as long as the bot runs; the returned function ends that. */
function registerConfigSecrets({ slack, store, traces }: Config): () => void {
  const { appToken, signingSecret, installing } = slack;
  const oauth = installing.kind === 'oauth' ? installing : undefined;
  const botToken = installing.kind === 'single' ? installing.botToken : undefined;
  return registerSecrets({
    'slack-token': [botToken?.reveal(), appToken?.reveal()],
    'signing-secret': [signingSecret?.reveal()],
    'client-secret': [oauth?.clientSecret.reveal()],
    'state-secret': [oauth?.stateSecret.reveal()],
    'collector-headers': findHeaderValues(traces?.headers),
    'database-password': findPasswords(store.databaseUrl),
  });
}

/** The values of `name=value,…`. */
function findHeaderValues(headers: Secret | undefined): string[] {
  const values = headers
    ?.reveal()
    .split(',')
    .map((pair) => pair.replace(/^[^=]*=/u, '').trim());
  return values?.flatMap((text) => [text, unescape(text)]) ?? [];
}

/** The password of an address, as it is written and as it is meant. */
function findPasswords(databaseUrl: Secret | undefined): string[] {
  const address = databaseUrl?.reveal();
  if (address === undefined || !URL.canParse(address)) return [];
  const { password, searchParams } = new URL(address);
  return [password, searchParams.get('password') ?? ''].flatMap((text) => [text, unescape(text)]);
}
