import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { type CdnSimulator, startCdn } from '../../simulator/cdn/server.ts';
import { type SlackSimulator, startSlack } from '../../simulator/slack/server.ts';
import { createCdn } from '../../src/api/cdn.ts';
import { type Audit, createAudit } from '../../src/auth/audit.ts';
import { createCheckpoints } from '../../src/auth/checkpoints.ts';
import { createInstallations } from '../../src/auth/installations.ts';
import { type Custody, createCustody } from '../../src/auth/keys.ts';
import { createOperations, type Operations, type OperationsOptions } from '../../src/auth/operations.ts';
import { createPolicies, type Policies } from '../../src/auth/policies.ts';
import { createSealer } from '../../src/auth/sealing.ts';
import { exportLimits } from '../../src/jobs/export-files.ts';
import type { Enqueue, Ports } from '../../src/jobs/ports.ts';
import { Secret } from '../../src/secret.ts';
import { createAccess } from '../../src/slack/access.ts';
import { boltLog } from '../../src/slack/bolt-log.ts';
import { createClients } from '../../src/slack/clients.ts';
import { createEgress } from '../../src/slack/egress.ts';
import { createJobPorts } from '../../src/slack/job-ports.ts';
import { createPeople } from '../../src/slack/people.ts';
import type { Database } from '../../src/store/database.ts';
import type { Schema } from '../../src/store/schema.ts';
import { startTransfer } from '../../src/transfer/transfer.ts';
import { keyringOf } from '../auth/keyrings.ts';
import { keptLog } from '../store/engines.ts';

export interface PortsDesk extends AsyncDisposable {
  readonly slack: SlackSimulator;
  readonly cdn: CdnSimulator;
  readonly db: Kysely<Schema>;
  readonly ports: Ports;
  readonly custody: Custody;
  readonly policies: Policies;
  readonly audit: Audit;
  readonly operations: Operations;
  readonly log: ReturnType<typeof keptLog>;
}

/** The real ports of jobs, against both simulators and a database, with the clock that is handed in. */
export async function portsDesk(options: {
  readonly database: Database;
  readonly enqueue: Enqueue;
  readonly now?: () => Date;
  readonly zones?: number;
  readonly adminIds?: readonly string[];
  /** Stands before every call to Slack: a network that breaks. */
  readonly fetch?: typeof globalThis.fetch;
  readonly ledger?: Pick<OperationsOptions, 'enqueue' | 'follow'>;
}): Promise<PortsDesk> {
  const { database, enqueue, now = () => new Date(), zones = 4, adminIds = [] } = options;
  const { db } = database;
  const [slack, cdn] = await Promise.all([startSlack({ now: () => now().getTime() }), startCdn({ zones })]);
  const log = keptLog();
  const logger = boltLog(log);
  const apiUrl = `${slack.url}/api/`;
  const sealer = createSealer(await keyringOf());
  const custody = createCustody({ db, sealer, now });
  const installations = createInstallations({ db, sealer, now, withLock: database.withLock });
  const access = createAccess({
    installing: { kind: 'single', botToken: new Secret(slack.botToken) },
    apiUrl,
    logger,
    installations,
    exclusively: installations.withRefreshLock,
    now,
  });
  const egress = createEgress({ log });
  const clients = createClients({
    apiUrl,
    logger,
    egress,
    ...(options.fetch ? { fetch: options.fetch } : {}),
  });
  const audit = createAudit({ db, now });
  const policies = createPolicies({ db, audit, now });
  const people = createPeople({
    adminIds,
    client: async (workspace) => clients.interactive(await access.token(workspace)),
    now,
    log,
  });
  const { ledger = { enqueue: async () => undefined } } = options;
  const operations = createOperations({ db, sealer, audit, now, ...ledger });
  const cdnThrough = (fetch: typeof globalThis.fetch) =>
    createCdn({
      apiUrl: cdn.url,
      originLoggingUrl: cdn.originLoggingUrl,
      fetch,
      timeoutMs: 2_000,
      sleep: async () => undefined,
    });
  const ports = createJobPorts({
    access,
    clients,
    custody,
    cdn: cdnThrough(globalThis.fetch),
    cdnThrough,
    transfer: startTransfer,
    policies,
    people,
    audit,
    operations,
    checkpoints: createCheckpoints({ db, sealer, audit, policies, now }),
    enqueue,
    apiUrl,
    draw: async () => new Uint8Array([137, 80, 78, 71]),
    inspectFile: () => egress.file(),
    spoolDirectory: join(tmpdir(), `chatops-ports-${process.pid}`),
    exportLimits,
    log,
  });
  return {
    slack,
    cdn,
    db,
    ports,
    custody,
    policies,
    audit,
    operations,
    log,
    async [Symbol.asyncDispose]() {
      await Promise.all([slack.close(), cdn.close()]);
    },
  };
}
