import { type ExportLimits, exportLimits as slackLimits } from '../exports/worker/gather.ts';
import { registerSecrets, type Secret } from '../secrets/secret.ts';
import { type Database, openDatabase } from '../store/database.ts';
import type { Log } from '../telemetry/log.ts';
import type { Config } from './config.ts';
import { createEdges } from './edges.ts';
import { createFeatures } from './features.ts';
import { registerKeyringSecrets } from './keyring-service.ts';
import { type ChatApp, createLifecycle, type Role } from './lifecycle.ts';
import { createServices } from './services.ts';
import { openStores } from './stores.ts';

export interface AppOptions {
  readonly config: Config;
  readonly log: Log;
  readonly role?: Role;
  readonly fetch?: typeof globalThis.fetch;
  readonly now?: () => Date;
  /** Slack's by default. */
  readonly exportLimits?: ExportLimits;
}

/**
 * Wires the app in stages, each made of the earlier ones: stores, services, features, edges. Starts nothing but the
 * database, which the wiring needs.
 */
export async function buildApp(options: AppOptions): Promise<ChatApp> {
  const { config, log, role = 'all' } = options;
  const base = {
    config,
    log,
    fetch: options.fetch ?? globalThis.fetch,
    now: options.now ?? (() => new Date()),
    exportLimits: options.exportLimits ?? slackLimits,
  };
  const release = registerConfigSecrets(config);
  let database: Database | undefined;
  try {
    database = await openDatabase({ ...config.store, log });
    const stores = await openStores({ ...base, database });
    const services = createServices({ ...base, stores });
    const features = createFeatures({ ...base, stores, services });
    const edges = createEdges({ ...base, stores, services, features });
    return createLifecycle({ config, log, role, stores, services, features, edges, release });
  } catch (error) {
    await database?.close();
    release();
    throw error;
  }
}

/** Registers the configured secrets for as long as the bot runs; the returned function ends that. */
function registerConfigSecrets({ slack, store, keyring }: Config): () => void {
  const { installing } = slack;
  const oauth = installing.kind === 'oauth' ? installing : undefined;
  const endHolding = registerSecrets({
    'slack-token': [
      installing.kind === 'single' ? installing.botToken.reveal() : undefined,
      slack.appToken?.reveal(),
    ],
    'signing-secret': [slack.signingSecret?.reveal()],
    'client-secret': [oauth?.clientSecret.reveal()],
    'state-secret': [oauth?.stateSecret.reveal()],
    'database-password': passwordOf(store.databaseUrl),
  });
  const endHoldingKeys = registerKeyringSecrets(keyring.keys ? [keyring.keys] : []);
  return () => {
    endHolding();
    endHoldingKeys();
  };
}

function passwordOf(databaseUrl: Secret | undefined): string[] {
  const address = databaseUrl?.reveal();
  if (address === undefined || !URL.canParse(address)) return [];
  const { password, searchParams } = new URL(address);
  const given = [password, searchParams.get('password') ?? ''];
  return given.flatMap((one) => [one, unescaped(one)]);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
