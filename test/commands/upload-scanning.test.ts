import { expect, test } from 'vitest';
import { findCommand, findForm } from '../../src/commands/registry.ts';
import { parseWords } from '../../src/commands/words.ts';
import { isChart } from '../../src/views/blocks/native.ts';
import { createCommandHarness, readText, setup } from '../support/command-harness.ts';
import { findViewProblems } from '../support/slack-limits.ts';

const now = new Date();

const overview = {
  '03-11-2026': { loggedRequests: 4, blockedRequests: 1, filesScanned: 40 },
  '2026-11-04T00:00:00': { loggedRequests: 6, blockedRequests: 4, filesScanned: 60 },
};

test('totals come as the CDN reports them, then the worst day with the month in letters', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  harness.cdn.data.shieldZones.push({ id: 600, plan: 'advanced', overview });
  const [answer, ...more] = await harness.person().run('scanning 600');
  expect(more).toEqual([]);
  expect(readText(answer)).toMatchSnapshot('answer');
  expect(answer?.blocks?.find(isChart)).toMatchSnapshot('chart');
});

test('28 days are four weeks in the chart', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const person = harness.person();
  const [answer] = await person.run('scanning 501');
  const chart = answer?.blocks?.find(isChart);
  expect(chart?.chart.axis_config.categories).toEqual(['25–31 Oct', '1–7 Nov', '8–14 Nov', '15–21 Nov']);
  expect(chart?.chart.series.map(({ name }) => name)).toEqual(['Logged', 'Blocked']);
});

test('a week of the chart is seven days, also where the CDN leaves days out, none is older than 28 or in the future', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const days = ['2026-10-20', '2026-11-02', '2026-11-19', '2026-11-21', '2026-12-05'];
  const counts = { loggedRequests: 1, blockedRequests: 5, filesScanned: 9 };
  const overview = Object.fromEntries(days.map((day) => [day, counts]));
  harness.cdn.data.shieldZones.push({ id: 600, plan: 'advanced', overview });
  const [answer] = await harness.person().run('scanning 600');
  const chart = answer?.blocks?.find(isChart);
  expect(chart?.title).toBe('Newest week: 2 logged, 10 blocked');
  expect(chart?.chart.axis_config.categories).toEqual(['2 Nov', '19–21 Nov']);
  expect(readText(answer)).toContain('Not reported: 8–14 Nov');
  expect(readText(answer)).not.toContain('Dec');
});

test('epoch keys are days, and an overview in another form is said to be one and is in the file', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const person = harness.person();
  const answerWith = async (overviewPastTwentyEightDays: unknown) => {
    const data = { overviewPastTwentyEightDays, totalBlockedRequests: 2 };
    harness.cdn.faults.add({ match: { path: /upload-scanning/ }, body: { data }, times: 1 });
    return (await person.run('scanning 501'))[0];
  };
  const known = await answerWith({ '1762214400': { blockedRequests: 2 } });
  expect(readText(known)).toContain('(most: 2 on 4 Nov)');
  const other = await answerWith('QUJD');
  expect(readText(other)).toMatchSnapshot('another form');
  expect(other?.files).toMatchObject([{ name: 'upload-scanning.json' }]);
  const nothing = await answerWith(null);
  expect(nothing?.files).toBeUndefined();
});

test.each([
  ['null', 503],
  ['object', 503],
] as const)('a success whose error is %s and that saw nothing is no failure', async (errorOnSuccess, id) => {
  await using harness = await createCommandHarness({ zones: 3 });
  harness.cdn.data.uploadScanning.errorOnSuccess = errorOnSuccess;
  const [answer] = await harness.person().run(`scanning ${id}`);
  expect(readText(answer)).toMatchSnapshot();
  expect(answer?.blocks?.some(isChart)).toBe(false);
});

test('missing numbers are not reported, and the rest is shown', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  harness.cdn.faults.add({
    match: { path: /upload-scanning/ },
    body: {
      data: { overviewPastTwentyEightDays: { '2026-11-04': { filesScanned: 5 } }, totalFilesScanned: 5 },
    },
  });
  const [answer] = await harness.person().run('scanning 501');
  expect(readText(answer)).toMatchSnapshot();
  const chart = answer?.blocks?.find(isChart);
  expect(chart?.chart.axis_config.y_label).toBe('Files per week');
  expect(chart?.chart.series).toEqual([{ name: 'Files scanned', data: [{ label: '4 Nov', value: 5 }] }]);
});

test('entries whose keys are no days are not said to be of one week', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const counts = { loggedRequests: 9, blockedRequests: 4, filesScanned: 9 };
  harness.cdn.faults.add({
    match: { path: /upload-scanning/ },
    body: { data: { overviewPastTwentyEightDays: { '26-11-2026': counts, total: counts } } },
  });
  const [answer] = await harness.person().run('scanning 501');
  const chart = answer?.blocks?.find(isChart);
  expect(
    [chart?.title, chart?.chart.axis_config.y_label].filter((text) => /week/iu.test(text ?? '')),
  ).toEqual([]);
});

test('without an id a form asks for it, and says what an id is', async () => {
  const { command, words } = findCommand(parseWords('scanning'));
  const view = command.modal?.(words, setup);
  expect(view && findViewProblems(view)).toEqual([]);
  const form = findForm('upload-scanning:submit');
  expect(form?.read({ shieldZoneId: 'shop' }, now)).toMatchSnapshot('no number');
  expect(form?.read({}, now)).toMatchSnapshot('nothing');
  await using harness = await createCommandHarness({ zones: 3 });
  const [answer] = (await harness.person().submit('upload-scanning:submit', { shieldZoneId: ' 501 ' })) as {
    text: string;
  }[];
  expect(answer?.text).toMatch(/ 501: /);
});
