import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Secret } from '../../../src/secrets/secret.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { createQueue, defineJob } from '../../../src/store/queue.ts';
import { createLogger } from '../../../src/telemetry/log.ts';

// A process to be killed while it runs a job: says when an attempt begins, and never ends one.
const [dataDir = '', databaseUrl = ''] = process.argv.slice(2);
const log = createLogger('error');
const database = await openDatabase({
  dataDir,
  databaseUrl: databaseUrl === '' ? undefined : new Secret(databaseUrl),
  log,
});
const job = defineJob({
  name: 'endless',
  data: z.object({}),
  async run(_data, { attempt, signal }) {
    process.stdout.write(`begun ${attempt}\n`);
    await sleep(600_000, undefined, { signal });
  },
  putAside: async (_data, { attempt }) => void process.stdout.write(`put aside ${attempt}\n`),
});
const queue = createQueue({ database, log, now: () => new Date() });
await queue.start({ jobs: [job], ports: {} });
process.stdout.write('ready\n');
process.on('message', (message) => {
  if (message === 'enqueue') void queue.enqueue(job, {});
});
