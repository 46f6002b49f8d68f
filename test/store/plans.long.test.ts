import { afterAll, expect, test } from 'vitest';
import { jobs } from '../../src/app/jobs.ts';
import { createAudit } from '../../src/auth/audit/audit.ts';
import { createKeyStore } from '../../src/auth/keys/key-store.ts';
import { createSealer } from '../../src/auth/keys/sealing.ts';
import { findCondition, findDigestKind } from '../../src/commands/reports/checks/list.ts';
import { createReports } from '../../src/commands/reports/life.ts';
import { enqueueNext } from '../../src/commands/reports/store.ts';
import { createOutbox } from '../../src/outbox/outbox.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createQueue } from '../../src/store/queue.ts';
import { definedTables } from '../../src/store/schema.ts';
import { createKeyring, generateKeys } from '../auth/keyring/keyrings.ts';
import { ask, type Bot, connect, startBot } from '../support/bot.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';
import { fillDatabase } from '../support/fill-database.ts';
import { watchPlans } from '../support/plans.ts';

const { postgres } = await prepareEngines();
const alice = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
const ops = 'C0OPS0000';
const now = (): Date => new Date();
const people = (): never => {
  throw new Error('nobody is told');
};

const growing = new Set([...definedTables.keys(), 'job_common']);

/** Statements that read whole tables, and why they may: none of them runs for a delivery, a run or a look. */
const everything: readonly (readonly [begins: string, why: string])[] = [
  [`select 'linked_keys' as table`, 'at start: which keys of the keyring are in use'],
  ['update "reports" set "pause_notice"', 'hourly, over reports: those of workspaces that are back'],
  ['with entries as ( select tenant, user_id', 'hourly: whom to compare with Slack'],
  [
    'select v.tenant, v.owner_id as "userId" from operation_values',
    'in retention: values that are still kept',
  ],
  // Every quarter of an hour, over a row a person or channel: an index would cost each write of these.
  ['delete from "read_budgets"', 'a row for each owner and hour, for a day'],
  ['delete from "zone_looks"', 'a row for each owner'],
  ['delete from "slack_pace"', 'a row for each channel, for a day'],
  ['BEGIN; SET LOCAL lock_timeout', 'pg-boss, in maintenance: ten thousand jobs at a time'],
];

let bot: Bot | undefined;
const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
  await bot?.stop();
});

test.skipIf(postgres.skip)(
  'no statement of a delivery or a run reads a growing table as a whole',
  async () => {
    const { databaseUrl, open } = await postgres.createLocation();
    const url = databaseUrl?.reveal() ?? '';
    const filled = await open();
    const keys = generateKeys('k1');
    const sizes = { workspaces: 2_000, keys: 20_000, digests: 4_000, alerts: 4_000 };
    const keyring = await createKeyring(keys);
    await fillDatabase(filled.db, sizes, { now: now(), keyring });
    // A start tries the first rows of each table, and one that opens proves the key.
    const keyStore = createKeyStore({ db: filled.db, sealer: createSealer(keyring), now });
    await keyStore.link({ teamId: 'A0FIRST00', userId: 'U0FIRST00' }, new Secret('key of the first'));
    const plans = await watchPlans(filled.db, new URL(url).pathname.slice(1));

    const env = { DATABASE_URL: url, ENCRYPTION_KEYS: keys, ADMIN_USER_IDS: alice.userId };
    bot = await startBot({ transport: 'http', zones: 8, env });
    await connect(bot, alice.userId, ops);
    const person = bot.slack.as(alice.userId, ops);
    for (const words of [
      'help',
      'whoami',
      'zones',
      'errors',
      'digests',
      'alerts',
      'changes',
      'approvals',
      'audit',
    ])
      await ask(person, words);

    const database = await openDatabase({ databaseUrl, dataDir: '', log: createMemoryLog() });
    const { db } = database;
    const queue = createQueue({ database, log: createMemoryLog(), now });
    await queue.start({ jobs: [], ports: {}, work: false });
    closing.push(
      () => database.close(),
      () => queue.stop(),
    );
    const { enqueue } = queue;
    const options = {
      db,
      audit: createAudit({ db, now }),
      outbox: createOutbox({ enqueue, now }),
      people,
      enqueue,
      now,
    };
    const due = new Date(Date.now() - 60_000);
    const reports = createReports(options);
    const digest = await reports.create(alice, {
      subject: {
        kinds: ['zones', 'errors'].map(findDigestKind),
        targets: { zones: [], shieldZones: [], apps: [] },
        only: 'always',
        timeZone: 'UTC',
      },
      schedule: { time: '09:00', zone: 'UTC', weekdays: [1, 2, 3, 4, 5, 6, 7], monthDays: [] },
      channel: ops,
    });
    await db.updateTable('reports').set({ next_due: due }).where('id', '=', digest.id).execute();
    for (const condition of ['zone-state', 'errors', 'settings'] as const) {
      const alert = await reports.create(alice, {
        subject: {
          condition: findCondition(condition),
          targets: [],
          threshold: 50,
          window: 10,
          every: 5,
          timeZone: 'UTC',
          names: [],
          lifeSign: true,
        },
        channel: ops,
      });
      await db.updateTable('reports').set({ next_due: due }).where('id', '=', alert.id).execute();
      await db.transaction().execute((trx) => enqueueNext(enqueue, alert, trx));
    }
    bot.slack.script.rateLimit('chat.postMessage', 1);
    for (const job of jobs) if (job.cron !== undefined) await enqueue(job, {} as never);
    await fetch(`http://127.0.0.1:${bot.app.port()}/metrics`);

    await expect
      .poll(() => db.selectFrom('report_runs').select('state').where('report_id', '=', digest.id).execute(), {
        timeout: 60_000,
      })
      .toContainEqual({ state: 'sent' });
    await expect
      .poll(
        () =>
          db
            .selectFrom('reports')
            .select('id')
            .where('tenant', '=', alice.teamId)
            .where('checked_at', 'is not', null)
            .execute(),
        { timeout: 60_000 },
      )
      .toHaveLength(3);

    // The comparison with Slack has read its first batch.
    const { calls } = bot.slack;
    const isOfFilled = ({ method, args }: (typeof calls)[number]): boolean =>
      method === 'users.info' && args['user'] !== alice.userId;
    await expect.poll(() => calls.some(isOfFilled)).toBe(true);

    expect(plans.seen()).toBeGreaterThan(500);
    const statements = plans
      .take()
      .filter(({ table }) => growing.has(table))
      .map(({ table, statement }) => ({ table, statement: statement.replaceAll(/\s+/g, ' ').trim() }));
    const unexplained = statements.filter(({ statement }) =>
      everything.every(([begins]) => !statement.startsWith(begins)),
    );
    expect(unexplained).toEqual([]);
  },
);
