import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CdnSimulator } from '../../simulator/cdn/server.ts';
import type { SlackSimulator } from '../../simulator/slack/server.ts';
import { createCdn } from '../../src/api/cdn.ts';
import { createAudit } from '../../src/auth/audit.ts';
import { createCheckpoints } from '../../src/auth/checkpoints.ts';
import { type Custody, createCustody } from '../../src/auth/keys.ts';
import { createOperations, type Operations, type OperationsOptions } from '../../src/auth/operations.ts';
import { createPolicies, type Policies } from '../../src/auth/policies.ts';
import { createSealer } from '../../src/auth/sealing.ts';
import type { JobContext } from '../../src/jobs/define.ts';
import type { Enqueue } from '../../src/jobs/ports.ts';
import { Secret } from '../../src/secret.ts';
import { createAccess } from '../../src/slack/access.ts';
import { boltLog } from '../../src/slack/bolt-log.ts';
import { createClients } from '../../src/slack/clients.ts';
import { createEgress } from '../../src/slack/egress.ts';
import { createJobPorts } from '../../src/slack/job-ports.ts';
import { createPeople } from '../../src/slack/people.ts';
import type { Database } from '../../src/store/database.ts';
import { startTransfer } from '../../src/transfer/transfer.ts';
import { keyringOf } from '../auth/keyrings.ts';
import { keptLog } from '../store/engines.ts';

/** What a job runs in, wired as `app.ts` does it, against the simulators and with a clock of the test. */
export interface JobBench {
  readonly context: JobContext;
  readonly log: ReturnType<typeof keptLog>;
  readonly custody: Custody;
  readonly policies: Policies;
  readonly operations: Operations;
}

export async function jobBench(options: {
  readonly database: Database;
  readonly slack: SlackSimulator;
  readonly cdn: CdnSimulator;
  readonly now: () => Date;
  readonly enqueue?: Enqueue;
  readonly ledger?: Pick<OperationsOptions, 'enqueue' | 'follow'>;
}): Promise<JobBench> {
  const { database, slack, now } = options;
  const { db } = database;
  const log = keptLog();
  const logger = boltLog(log);
  const egress = createEgress({ log });
  const apiUrl = `${slack.url}/api/`;
  const sealer = createSealer(await keyringOf());
  const custody = createCustody({ db, sealer, now });
  const audit = createAudit({ db, now });
  const policies = createPolicies({ db, audit, now });
  const access = createAccess({
    installing: { kind: 'single', botToken: new Secret(slack.botToken, 'slack-token') },
    apiUrl,
    logger,
    // One workspace: nothing is installed by people.
    installations: {
      storeInstallation: () => Promise.reject(new Error('not here')),
      fetchInstallation: () => Promise.reject(new Error('not here')),
    },
    exclusively: (_, run) => run(),
    now,
  });
  const clients = createClients({ apiUrl, logger, egress });
  const people = createPeople({
    adminIds: [],
    client: async (workspace) => clients.interactive(await access.token(workspace)),
    now,
    log,
  });
  const operations = createOperations({
    db,
    sealer,
    audit,
    now,
    enqueue: options.ledger?.enqueue ?? (async () => undefined),
    follow: options.ledger?.follow,
  });
  const { url, originLoggingUrl } = options.cdn;
  const cdnThrough = (fetch: typeof globalThis.fetch) => createCdn({ apiUrl: url, originLoggingUrl, fetch });
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
    enqueue: options.enqueue ?? (() => Promise.reject(new Error('this job starts no other'))),
    apiUrl,
    draw: () => Promise.reject(new Error('this job draws nothing')),
    inspectFile: () => egress.file(),
    spoolDirectory: join(tmpdir(), `chatops-spool-${process.pid}`),
    log,
  });
  const signal = new AbortController().signal;
  return {
    context: { db, ports, log, now, signal, attempt: 1, lastAttempt: false },
    log,
    custody,
    policies,
    operations,
  };
}
