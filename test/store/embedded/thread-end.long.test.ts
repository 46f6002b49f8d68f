import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startCdn } from '../../../simulator/cdn/server.ts';
import { startSlack } from '../../../simulator/slack/server.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { environment } from '../../support/bot.ts';
import { copyEmbeddedDatabase } from '../../support/database-templates.ts';
import { createMemoryLog } from '../../support/engines.ts';
import { startBotProcess } from '../../support/process.ts';
import { createTempDirectory } from '../../support/temp-directory.ts';

test('a statement that ends the thread fails, is logged, and loses nothing that was committed', async () => {
  const dataDir = await createTempDirectory();
  await copyEmbeddedDatabase(dataDir);
  const log = createMemoryLog();
  const database = await openDatabase({ dataDir, log });
  const { db, ended } = database;
  await sql`insert into deliveries values ('before', now())`.execute(db);
  const nested = 3_000_000;
  const deep = `'select ' || repeat('(', ${nested}) || '1' || repeat(')', ${nested})`;
  const outcomes = await Promise.allSettled([
    sql.raw(`do $$ begin execute ${deep}; end $$`).execute(db),
    sql`insert into deliveries values ('behind it', now())`.execute(db),
    sql`select 1`.execute(db),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(await ended).toMatchObject({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
  expect(log.entries.filter(({ level }) => level === 'error')).toHaveLength(1);
  await expect(sql`select 1`.execute(db)).rejects.toThrow('memory');
  await database.close();

  const again = await openDatabase({ dataDir, log });
  const { rows } = await sql`select id from deliveries`.execute(again.db);
  expect(rows).toEqual([{ id: 'before' }]);
  await again.close();
});

test('a bot whose database has ended stops with code 1, and starts again', async () => {
  const [slack, cdn, dataDir] = await Promise.all([
    startSlack(),
    startCdn({ zones: 3 }),
    createTempDirectory(),
  ]);
  await copyEmbeddedDatabase(dataDir);
  const preload = new URL('../../support/end-threads.mjs', import.meta.url).href;
  const env = { ...environment({ slack, cdn, dataDir }), NODE_OPTIONS: `--import=${preload}` };
  const bot = startBotProcess(env);
  try {
    await bot.waitForOutput('"msg":"ready"');
    bot.child.kill('SIGUSR2');
    await bot.waitForOutput('the embedded database ended');
    expect(await bot.exited).toBe(1);
    const again = startBotProcess(env);
    await again.waitForOutput('"msg":"ready"');
    const person = slack.as('U0ALICE00', 'C0OPS0000');
    await person.slash('help');
    await person.waitForMessage(/zones/u);
    expect(await again.kill('SIGTERM')).toBe(0);
  } finally {
    bot.child.kill('SIGKILL');
    await Promise.all([slack.close(), cdn.close()]);
  }
});
