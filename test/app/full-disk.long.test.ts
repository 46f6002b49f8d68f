import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildApp } from '../../src/app/build-app.ts';
import { readConfig } from '../../src/app/config.ts';
import { isDiskFull } from '../../src/errors.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { mountSmallDisk } from '../commands/exports/small-disk.ts';
import { ask, connect, startBot } from '../support/bot.ts';
import { alice, ops } from '../support/people.ts';
import { readStable } from '../support/words.ts';

/** Writes a file until nothing more goes in. */
async function fill(path: string): Promise<void> {
  await using file = await open(path, 'w');
  const piece = Buffer.alloc(65_536);
  for (;;) {
    try {
      await file.write(piece);
    } catch (error) {
      if (isDiskFull(error)) return;
      throw error;
    }
  }
}

test('on a full disk people get a sentence, nothing is lost, and with room the bot goes on by itself', async ({
  skip,
}) => {
  const dataDir = join(tmpdir(), `chatops-disk-${process.pid}`);
  const disk = await mountSmallDisk(dataDir, 120_000_000);
  if (typeof disk === 'string') return skip(disk);
  onTestFinished(async () => {
    await disk.unmount();
    await rm(dataDir, { recursive: true });
  });
  const bot = await startBot({ env: { DATA_DIR: dataDir } });
  let app = bot.app;
  onTestFinished(async () => {
    await app.stop();
    await bot.stop();
  });
  const person = bot.slack.as(alice, ops);
  await connect(bot, alice, ops);
  const before = readStable(await ask(person, 'whoami'));

  await fill(join(dataDir, 'ballast'));
  // Pages that are there already take some rows more.
  let said = before;
  for (let typed = 0; said === before && typed < 400; typed += 1)
    said = readStable(await ask(person, 'whoami'));
  expect(said).toMatchSnapshot('full');
  expect(readStable(await ask(person, 'whoami'))).toBe(said);

  await rm(join(dataDir, 'ballast'));
  expect(readStable(await ask(person, 'whoami'))).toBe(before);
  await app.stop();
  app = await buildApp({ config: readConfig(bot.env), log: createLogger('silent') });
  await app.start();
  expect(readStable(await ask(person, 'whoami'))).toBe(before);
  expect(bot.slack.problems).toEqual([]);
});
