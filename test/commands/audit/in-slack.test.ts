import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditCheckpoint } from '../../../src/app/audit-checkpoint.ts';
import { buildApp } from '../../../src/app/build-app.ts';
import { readConfig } from '../../../src/app/config.ts';
import type { ChatApp } from '../../../src/app/lifecycle.ts';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import { readCheckpoints, readPublicKey } from '../../../src/auth/audit/checkpoint.ts';
import { checkDatabase } from '../../../src/auth/audit/verify.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createQueue, type Queue } from '../../../src/store/queue/queue.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { acme, runWithoutTriggers } from '../../auth/audit/tampering.ts';
import { noPorts } from '../../store/queue/no-ports.ts';
import { type Bot, connect, startBot } from '../../support/bot.ts';
import { createMemoryLog } from '../../support/engines.ts';
import { findPostgres, type PostgresServer } from '../../support/postgres.ts';
import { saveSettings } from '../../support/settings.ts';
import { readStable } from '../../support/words.ts';
import { configure } from '../operations/workspace.ts';

const bob = 'U0BOB0000';
const carol = 'U0CAROL00';
const ops = 'C0OPS0000';
const random = 'C0RANDOM0';
type Person = ReturnType<Bot['slack']['as']>;

/** Posts that come without being asked for. */
const says = {
  checkpoint: 'Audit checkpoint ·',
  broken: 'does not hold together',
  chosen: 'chose this channel for the daily checkpoint',
};

async function ask(person: Person, words: string): Promise<string> {
  const before = new Set(person.messages().map(({ ts }) => ts));
  await person.slash(words);
  return (await person.waitForMessage(({ ts }) => !before.has(ts))).reads;
}

function stable(answer: string): string {
  const hashes = answer.replaceAll(/\b[\da-f]{12,64}\b/g, '<hash>');
  return readStable(hashes.replaceAll(/\b[A-Z\d]{8}$/gm, '<reference>'));
}

describe.each(['socket', 'http'] as const)('the audit in Slack over %s', (transport) => {
  let bot: Bot;
  let admin: Person;
  let other: Person;
  beforeAll(async () => {
    bot = await startBot({ transport, zones: 12, env: { ADMIN_USER_IDS: carol } });
    [admin, other] = [bot.slack.as(carol, ops), bot.slack.as(bob, ops)];
    await connect(bot, bob, ops);
  });
  afterAll(() => bot.stop());

  test('an admin reads who connected a key, others are refused, and that is recorded too', async () => {
    expect(stable(await ask(admin, 'audit'))).toMatchSnapshot('the newest records');
    const refused = await ask(other, 'audit');
    expect(stable(refused)).toMatchSnapshot('refused');
    const denied = await ask(admin, 'audit denied');
    expect(stable(denied)).toMatchSnapshot('the record of the refusal');
    // What somebody reads out on the phone is what stands in the record.
    expect(denied).toContain(`| ${/Reference (\w{8})/.exec(refused)?.[1]}`);
    const keys = await ask(admin, `audit 9 <@${bob}|bob> keys`);
    expect(stable(keys)).toMatchSnapshot('keys of a person');
  });

  test('the file comes to the admin’s own messages, and that is recorded', async () => {
    await ask(admin, 'audit');
    await admin.press('audit:file:ndjson');
    const inDm = bot.slack.as(carol, 'DU0CAROL00');
    await inDm.waitForMessage(({ files }) => files.some(({ name }) => name.endsWith('.ndjson')), 10_000);
    expect(stable(await ask(admin, 'audit exported'))).toMatchSnapshot('the record of the export');
  });

  test('who chooses a channel for checkpoints hears at once whether the bot can write there', async () => {
    const saved = await saveSettings(admin, { auditChannel: random });
    const about = stable(saved.reads)
      .split('\n')
      .filter((line) => line.includes('#random'));
    expect(about).toMatchSnapshot('a channel that the bot is not in');
    while (admin.modal()) await admin.closeModal();
    await configure(admin, { auditChannel: ops });
    await other.waitForMessage(says.chosen);
    await configure(admin, { auditChannel: '' });
    expect(
      stable(await ask(admin, 'audit'))
        .split('\n')
        .at(-1),
    ).toMatchSnapshot('no channel');
    expect(bot.slack.problems).toEqual([]);
  });
});

const postgres = await findPostgres();
const missing = typeof postgres === 'string' ? postgres : undefined;

describe.skipIf(missing)(`two replicas on PostgreSQL${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let server: PostgresServer;
  let bot: Bot;
  let second: ChatApp;
  let database: Database;
  let queue: Queue;
  let admin: Person;
  beforeAll(async () => {
    if (typeof postgres === 'string') return;
    server = await postgres.start();
    const url = (await server.createDatabase()).reveal();
    const shared = { DATABASE_URL: url, ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` };
    bot = await startBot({ zones: 12, env: { ...shared, ADMIN_USER_IDS: carol } });
    second = await buildApp({ config: readConfig(bot.env), log: createLogger('error') });
    await second.start();
    database = await openDatabase({ databaseUrl: new Secret(url), dataDir: '', log: createMemoryLog() });
    queue = createQueue({
      database,
      log: createMemoryLog(),
      now: () => new Date(),
    });
    await queue.start({ jobs: [auditCheckpoint], ports: noPorts, work: false });
    admin = bot.slack.as(carol, ops);
    await configure(admin, { auditChannel: ops });
  });
  afterAll(async () => {
    await queue?.stop();
    await database?.close();
    await second?.stop();
    await bot?.stop();
    await server?.stop();
  });

  /** Lets both replicas look, several times at once, as if the hour had come. */
  async function hours(): Promise<void> {
    await Promise.all(Array.from({ length: 6 }, () => queue.enqueue(auditCheckpoint, {})));
    for (;;) {
      const { rows } = await sql<{ open: number }>`select count(*)::int as open from pgboss.job
        where name in ('audit-checkpoint', 'deliver-message') and state in ('created', 'retry', 'active')`.execute(
        database.db,
      );
      if (rows[0]?.open === 0) return;
    }
  }
  /** The next day, for what the database knows. */
  async function nextDay(): Promise<void> {
    // In two steps: no two rows may have one day meanwhile.
    await sql`update audit_checkpoints set day = '-' || day`.execute(database.db);
    await sql`update audit_checkpoints set day = (substr(day, 2)::date - 1)::text`.execute(database.db);
  }
  const findPosts = (): { reads: string; channel: string }[] =>
    bot.slack
      .as(bob, ops)
      .messages()
      .filter(({ reads }) => [says.checkpoint, says.broken].some((words) => reads.includes(words)));
  const record = (): Promise<void> =>
    createAudit({ db: database.db, now: () => new Date() }).record({
      tenant: acme,
      actor: carol,
      event: 'digest-created',
    });

  test('post one checkpoint a day, and whoever has it can check it', async () => {
    await hours();
    await hours();
    expect(findPosts()).toHaveLength(1);
    const reads = findPosts()[0]?.reads ?? '';
    const [checkpoint, ...others] = readCheckpoints(reads);
    expect(others).toEqual([]);
    expect(checkpoint).toMatchObject({ tenant: acme, seq: 1 });
    const key = readPublicKey(/Public key [0-9a-f]{16}: `?([\w+/]{43}=)/.exec(reads)?.[1] ?? '');
    expect(key).toBeDefined();
    const options = { checkpoints: checkpoint ? [checkpoint] : [], key, tenant: acme };
    const [report] = await checkDatabase(database.db, options);
    expect(report).toMatchObject({ records: 1, checkpoints: [{ genuine: 'yes' }, { genuine: 'yes' }] });
    expect(report).not.toHaveProperty('broken');
    expect(
      stable(await ask(admin, 'audit'))
        .split('\n')
        .at(-1),
    ).toMatchSnapshot('the last checkpoint');
  });

  test('post none where nothing was recorded since, and one where something was', async () => {
    await nextDay();
    await hours();
    expect(findPosts()).toHaveLength(1);
    await nextDay();
    await record();
    await hours();
    expect(findPosts()).toHaveLength(2);
  });

  test('try again within the day where Slack refused, and say so in the list', async () => {
    await nextDay();
    await record();
    bot.slack.script.fail('chat.postMessage', 'not_in_channel', 1);
    await hours();
    await hours();
    expect(findPosts()).toHaveLength(3);
    await nextDay();
    await record();
    const channel = bot.slack.world.channels.get(ops);
    if (channel) channel.archived = true;
    await hours();
    expect(findPosts()).toHaveLength(3);
    const told = await ask(admin, 'audit');
    if (channel) channel.archived = false;
    expect(stable(told).split('\n').slice(-2)).toMatchSnapshot('a checkpoint that Slack refused');
  });

  test('sign nothing where the chain was changed, and say which record', async () => {
    await nextDay();
    await runWithoutTriggers(database, 'update audit_records set actor = $$U9$$ where seq = 4');
    await hours();
    expect(findPosts().map(({ reads }) => readCheckpoints(reads).length)).toEqual(
      expect.arrayContaining([0, 1]),
    );
    const alarm = findPosts().find(({ reads }) => reads.includes(says.broken));
    expect(bot.slack.problems).toEqual([]);
    expect(stable(alarm?.reads ?? '')).toMatchSnapshot('record 4 was changed');
  });
});
