import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startPlayground } from '../../simulator/playground.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { hasBrowser, launch, openPage } from './browser.ts';
import { describeEfforts, measureTasks } from './tasks.ts';

const answers = new URL('../../docs/answers.md', import.meta.url);

test.skipIf(!hasBrowser)(
  'five tasks on a phone take at most the taps that docs/answers.md says',
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'tasks-'));
    const playground = await startPlayground({
      port: 0,
      dataDir,
      zones: 60,
      story: true,
      log: createLogger('silent'),
    });
    const browser = await launch();
    try {
      const complaints: string[] = [];
      const measured = await measureTasks(await openPage(browser, playground.url, complaints));
      const dearer = measured.filter(
        ({ task: { before }, effort: { keys, taps, screens } }, nth) =>
          taps > (nth < 2 ? before.taps / 2 : before.taps) || keys > before.keys || screens > before.screens,
      );
      expect(dearer).toEqual([]);
      expect(await readFile(answers, 'utf8')).toContain(describeEfforts(measured));
      expect([...complaints, ...playground.slack.problems]).toEqual([]);
    } finally {
      await browser.close();
      await playground.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  },
);
