import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { hasBrowser, openPlayground } from './browser.ts';
import { describeEfforts, measureTasks } from './tasks.ts';

const answers = new URL('../../docs/answers.md', import.meta.url);

test.skipIf(!hasBrowser)(
  'five tasks on a phone take at most the taps that docs/answers.md says',
  async () => {
    const { complaints, page, playground, stop } = await openPlayground({ zones: 60, story: true });
    try {
      const measured = await measureTasks(page);
      const dearer = measured.filter(
        ({ task: { before }, effort: { keys, taps, screens } }, nth) =>
          taps > (nth < 2 ? before.taps / 2 : before.taps) || keys > before.keys || screens > before.screens,
      );
      expect(dearer).toEqual([]);
      expect(await readFile(answers, 'utf8')).toContain(describeEfforts(measured));
      expect([...complaints, ...playground.slack.problems]).toEqual([]);
    } finally {
      await stop();
    }
  },
);
