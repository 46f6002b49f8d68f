import { createAudit } from '../auth/audit/audit.ts';
import { createInstallations } from '../auth/installations.ts';
import { createKeyStore } from '../auth/keys/key-store.ts';
import { createKeyLinks } from '../auth/keys/links.ts';
import { createSealer } from '../auth/keys/sealing.ts';
import { createNames } from '../auth/names.ts';
import { createPolicies } from '../auth/policy/policies.ts';
import type { ExportLimits } from '../commands/exports/worker/gather.ts';
import { createSettingsHistory } from '../commands/zones/history/history.ts';
import { createOutbox } from '../outbox/outbox.ts';
import { createNativeSupport } from '../slack/send/native-blocks.ts';
import type { Database } from '../store/database.ts';
import { createQueue } from '../store/queue/queue.ts';
import type { Log } from '../telemetry/log.ts';
import type { Config } from './config.ts';
import { repairSchedules } from './jobs.ts';
import { openKeyringService } from './keyring-service.ts';

/** The base of every stage of the wiring. */
export interface Base {
  readonly config: Config;
  readonly log: Log;
  readonly fetch: typeof globalThis.fetch;
  /** `fetch` unless given. */
  readonly cdnFetch?: typeof globalThis.fetch;
  readonly now: () => Date;
  /** Those of Slack unless given. */
  readonly exportLimits?: ExportLimits | undefined;
}

export type Stores = Awaited<ReturnType<typeof openStores>>;

/** First stage: everything that owns rows. The queue takes jobs from here on and runs them when it starts. */
export async function openStores({ config, log, now }: Base, database: Database) {
  const { db, withLock } = database;
  await database.migrate();
  const queue = createQueue({
    database,
    log,
    now,
    manyTenants: config.slack.installing.kind === 'oauth',
  });
  const keyring = await openKeyringService(config, database, log);
  const sealer = createSealer(keyring.keyring);
  const audit = createAudit({ db, now });
  const outbox = createOutbox({ enqueue: queue.enqueue, now });
  const installations = createInstallations({
    db,
    sealer,
    now,
    withLock,
    onStored: (tenant, options) => repairSchedules(queue.enqueue, { tenant }, options),
  });
  return {
    database,
    queue,
    outbox,
    nativeSupport: createNativeSupport({ now }),
    keyring,
    sealer,
    audit,
    installations,
    keyStore: createKeyStore({ db, sealer, now, audit }),
    links: createKeyLinks({ db, sealer, now }),
    names: createNames({ db, audit, now }),
    settingsHistory: createSettingsHistory({ db, sealer, now }),
    policies: createPolicies({ db, audit, now }),
  };
}
