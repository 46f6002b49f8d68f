import { escape, unescape } from 'node:querystring';
import { setImmediate } from 'node:timers/promises';
import { registerSecrets, type Secret } from '../secrets/secret.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { readHeaders, startTracing } from '../telemetry/tracing.ts';
import type { Config, Role } from './config.ts';
import type { Base, ChatApp } from './wire.ts';

export type AppOptions = Pick<Base, 'config' | 'log'> & Partial<Base> & { readonly role?: Role };

/** Opens the database in its thread while the code of the bot is loaded, and wires the app. Starts nothing else. */
export async function buildApp({ role = 'all', ...options }: AppOptions): Promise<ChatApp> {
  const base: Base = { fetch: globalThis.fetch, now: () => new Date(), ...options };
  const { config, log } = base;
  const releaseSecrets = registerConfigSecrets(config);
  const { traces } = config;
  const stopTracing = traces && startTracing(traces.endpoint, traces.headers, log);
  const release = async (): Promise<void> => {
    await stopTracing?.();
    releaseSecrets();
  };
  let database: Database | undefined;
  try {
    const opening = openDatabase({ ...config.store, log });
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

function registerConfigSecrets({ slack, store, traces }: Config): () => void {
  const { appToken, signingSecret, installing } = slack;
  const oauth = installing.kind === 'oauth' ? installing : undefined;
  const botToken = installing.kind === 'single' ? installing.botToken : undefined;
  return registerSecrets({
    'slack-token': [botToken?.reveal(), appToken?.reveal()],
    'signing-secret': [signingSecret?.reveal()],
    'client-secret': [oauth?.clientSecret.reveal()],
    'state-secret': [oauth?.stateSecret.reveal()],
    'collector-headers': Object.values(readHeaders(traces?.headers)).flatMap((text) => [text, escape(text)]),
    'database-password': findPasswords(store.databaseUrl),
  });
}

function findPasswords(databaseUrl: Secret | undefined): string[] {
  const address = databaseUrl?.reveal();
  if (address === undefined || !URL.canParse(address)) return [];
  const { password, searchParams } = new URL(address);
  return [password, searchParams.get('password') ?? ''].flatMap((text) => [text, unescape(text)]);
}
