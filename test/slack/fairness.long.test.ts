import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestRun } from '../../src/commands/reports/queue.ts';
import { createOutbox } from '../../src/outbox/outbox.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { createQueue, type Queue } from '../../src/store/queue/queue.ts';
import { ask, type Bot, connect, createPublicUrl, install, startBot } from '../support/bot.ts';
import { createMemoryLog } from '../support/engines.ts';
import { findPostgres, type PostgresServer } from '../support/postgres.ts';

const alice = 'U0ALICE00';
const busyOps = 'C0OPS0000';
const postgres = await findPostgres();
const missing = typeof postgres === 'string' ? postgres : undefined;
const now = (): Date => new Date();

describe.skipIf(missing)(`a busy and a quiet workspace${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let server: PostgresServer;
  let bot: Bot;
  /** As another process would, which only enqueues. */
  let database: Database;
  let queue: Queue;
  let quietOps: string;
  let busy: string;
  let quiet: string;

  beforeAll(async () => {
    if (typeof postgres === 'string') return;
    server = await postgres.start();
    const databaseUrl = await server.createDatabase();
    const env = {
      ...(await createPublicUrl()),
      DATABASE_URL: databaseUrl.reveal(),
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    };
    bot = await startBot({ transport: 'http', install: 'oauth', zones: 8, env });
    const { acme, beta } = bot.slack.workspaces;
    [busy, quiet] = [acme.id, beta.id];
    for (const { id } of [acme, beta]) await install(bot, id);
    const channels = [...bot.slack.world.channels.values()];
    quietOps = channels.find(({ teamId, kind }) => teamId === quiet && kind === 'channel')?.id ?? '';
    await connect(bot, alice, busyOps);
    await connect(bot, alice, quietOps, bot.cdn.key, quiet);
    database = await openDatabase({
      databaseUrl: new Secret(databaseUrl.reveal(), 'database-password'),
      dataDir: '',
      log: createMemoryLog(),
    });
    queue = createQueue({ database, log: createMemoryLog(), now });
    await queue.start({ jobs: [], ports: {}, work: false });
  });
  afterAll(async () => {
    await queue?.stop();
    await database?.close();
    await bot?.stop();
    await server?.stop();
  });

  /** Orders a digest of Alice's as a person does, and gives its id. */
  const order = async (channel: string, team: string, values: Record<string, unknown>): Promise<string> => {
    const person = bot.slack.as(alice, channel, team);
    await person.slash('digest new');
    await person.waitForModal('digests:submit');
    await person.submit({ channel, ...values });
    const saved = await person.waitForModal('digests:done');
    await person.closeModal();
    return /Digest (\w{5})/u.exec(saved.reads)?.[1] ?? '';
  };

  /** Stores messages together, as digests at nine o'clock do. */
  const put = (ids: readonly string[], teamId: string, channel: string): Promise<void> =>
    database.db.transaction().execute(async (trx) => {
      const outbox = createOutbox({ enqueue: queue.enqueue, now });
      for (const id of ids)
        await outbox.put(trx, {
          id,
          kind: { kind: 'digest-detail' },
          about: {},
          installation: { teamId },
          to: { places: [channel] },
          body: { text: id },
          doubt: 'look',
        });
    });

  test('2,000 messages of one workspace do not delay a message of another', async () => {
    const flood = Array.from({ length: 2_000 }, (_, nth) => `flood:${nth}`);
    await put(flood, busy, busyOps);
    const before = now();
    await put(['small'], quiet, quietOps);
    const findSmall = () =>
      database.db.selectFrom('outbox').selectAll().where('id', '=', 'small').executeTakeFirstOrThrow();
    await expect.poll(async () => (await findSmall()).state, { timeout: 60_000 }).toBe('sent');
    const { changed_at: sent } = await findSmall();
    const { rows } = await sql<{ before: number }>`
      select count(*)::int as before from outbox
      where tenant = ${busy} and changed_at between ${before} and ${sent}`.execute(database.db);
    expect(rows[0]?.before).toBeLessThan(200);
  });

  test('200 digests and 100 commands that the CDN leaves waiting do not delay those of another', async () => {
    const { promise: cdnAnswers, resolve } = Promise.withResolvers<void>();
    const id = await order(busyOps, busy, { kind: ['errors'] });
    bot.cdn.faults.add({ match: { host: 'origin-logging' }, times: Infinity, until: cdnAnswers });
    const due = new Date();
    await sql`delete from reports where id like 'flood%'`.execute(database.db);
    await sql`
      insert into reports select (jsonb_populate_record(d, jsonb_build_object('id', 'flood' || n))).*
      from reports d, generate_series(1, 200) n where d.id = ${id}`.execute(database.db);
    for (let nth = 1; nth <= 200; nth += 1) {
      const digestId = `flood${nth}`;
      await database.db.transaction().execute(async (trx) => {
        const run = { report_id: digestId, due, run_at: due, state: 'due', missed: 0, attempts: 0 };
        await trx.insertInto('report_runs').values(run).execute();
        const data = { digestId, due: due.toISOString() };
        await queue.enqueue(digestRun, data, { in: trx, key: `${digestId} ${data.due}`, tenant: busy });
      });
    }
    const inBusy = bot.slack.as(alice, busyOps, busy);
    for (let nth = 0; nth < 100; nth += 1) await inBusy.slash('errors 1');
    const inQuiet = bot.slack.as(alice, quietOps, quiet);
    expect((await ask(inQuiet, 'zones')).reads).toMatch(/8 zones/);
    const own = await order(quietOps, quiet, { kind: ['zones'] });
    await inQuiet.slash(`digest run ${own}`);
    await inQuiet.waitForMessage(({ reads, ephemeral }) => !ephemeral && /8 zones/.test(reads), 30_000);
    // A few may have given up on the CDN by then; all the others still wait.
    const { rows } = await sql<{ waiting: string }>`
      select count(*) as waiting from report_runs where report_id like 'flood%' and state = 'due'`.execute(
      database.db,
    );
    expect(Number(rows[0]?.waiting)).toBeGreaterThan(150);
    resolve();
  });
});
