import { unescape } from 'node:querystring';
import { exportLimits } from '../exports/worker/gather.ts';
import { registerSecrets, type Secret } from '../secrets/secret.ts';
import { type Database, openDatabase } from '../store/database.ts';
import type { Config, Role } from './config.ts';
import { createEdges } from './edges.ts';
import { createFeatures } from './features.ts';
import { type ChatApp, createLifecycle } from './lifecycle.ts';
import { createServices } from './services.ts';
import { type Base, openStores } from './stores.ts';

export type AppOptions = Pick<Base, 'config' | 'log'> & Partial<Base> & { readonly role?: Role };

/**
 * Wires the app in stages, each made of the earlier ones: stores, services, features, edges. Starts nothing but the
 * database, which the wiring needs.
 */
export async function buildApp({ role = 'all', ...options }: AppOptions): Promise<ChatApp> {
  const base: Base = { fetch: globalThis.fetch, now: () => new Date(), exportLimits, ...options };
  const { config, log } = base;
  const releaseSecrets = registerConfigSecrets(config);
  const stopTracing = await startTracing(base);
  const release = async (): Promise<void> => {
    await stopTracing?.();
    releaseSecrets();
  };
  let database: Database | undefined;
  try {
    database = await openDatabase({ ...config.store, log });
    const stores = await openStores(base, database);
    const services = createServices(base, stores);
    const features = createFeatures(base, stores, services);
    const edges = createEdges(base, role, stores, services, features);
    return createLifecycle(base, role, { stores, services, features, edges }, release);
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
