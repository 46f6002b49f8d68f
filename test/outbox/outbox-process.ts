import { setTimeout as sleep } from 'node:timers/promises';
import { createDeliverJob, sweepOutboxJob } from '../../src/outbox/deliver.ts';
import { createOutbox, defineMessage } from '../../src/outbox/outbox.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { createClients, createLibraryLog } from '../../src/slack/send/clients.ts';
import { createEgress } from '../../src/slack/send/egress.ts';
import { createJobPorts, type JobPortsOptions } from '../../src/slack/send/job-ports.ts';
import { createNativeBlocks } from '../../src/slack/send/native-blocks.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createQueue } from '../../src/store/queue.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

/** What the test hands over, as JSON in the first argument. */
export interface CrashSettings {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
  readonly slackUrl: string;
  readonly botToken: string;
  readonly places: readonly string[];
  readonly messages: number;
}

// A process to be killed at any moment: puts messages, replies and edits at random until there are enough, and delivers.
const settings = JSON.parse(process.argv[2] ?? '') as CrashSettings;
const log = createLogger('error');
const now = (): Date => new Date();
const database = await openDatabase({
  dataDir: settings.dataDir,
  databaseUrl: settings.databaseUrl === undefined ? undefined : new Secret(settings.databaseUrl),
  log,
});
await database.migrate();
const { db } = database;
const apiUrl = `${settings.slackUrl}/api/`;
const egress = createEgress({ log });
const { slack } = createJobPorts({
  access: { token: async () => new Secret(settings.botToken) },
  clients: createClients({
    apiUrl,
    logger: createLibraryLog(log),
    egress,
    sendNativeBlocks: createNativeBlocks({ log, now }).send,
  }),
  egress,
  apiUrl,
  metrics: createMetrics(),
} as unknown as JobPortsOptions);

const queue = createQueue({ database, log, now });
const outbox = createOutbox({ enqueue: queue.enqueue, now });
const note = defineMessage({
  kind: 'note',
  async render({ id }: { readonly id: string }, { db }) {
    const rows = db.selectFrom('outbox').select('wanted').where('id', '=', id);
    return { text: `${id} v${(await rows.executeTakeFirstOrThrow()).wanted}` };
  },
  // Counts ends: a second one would fail on the primary key.
  async ended(trx, { id }: { readonly id: string }) {
    await trx.insertInto('deliveries').values({ id, seen_at: now() }).execute();
  },
});
await queue.start({
  jobs: [createDeliverJob([note]), sweepOutboxJob],
  ports: { slack, enqueue: queue.enqueue, untold: () => undefined, readAudience: async () => 'own' as const },
});
process.stdout.write('ready\n');

const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(Math.random() * from.length)];
for (;;) {
  const rows = await db.selectFrom('outbox').select(['id', 'parent']).execute();
  if (rows.length >= settings.messages) break;
  await db.transaction().execute(async (trx) => {
    const id = `m${process.pid}-${rows.length}`;
    const parent = pick(rows.filter((row) => row.parent === null));
    const isReply = parent !== undefined && Math.random() < 0.4;
    await outbox.put(trx, {
      id,
      kind: note,
      about: { id },
      installation: { teamId: 'T0ACME000' },
      to: isReply ? { parent: parent.id } : { places: [pick(settings.places) ?? ''] },
      doubt: 'look',
    });
  });
  const edited = pick(rows);
  if (edited && Math.random() < 0.5) await db.transaction().execute((trx) => outbox.edit(trx, edited.id));
  await sleep(Math.random() * 60);
}
