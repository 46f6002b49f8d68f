import { expect, test } from 'vitest';
import { appIds } from '../../simulator/cdn/apps.ts';
import { findCommand, findForm } from '../../src/commands/registry.ts';
import { parseWords } from '../../src/commands/words.ts';
import { UserError } from '../../src/errors.ts';
import { isChart } from '../../src/views/blocks/native.ts';
import { buttons, createCommandHarness, readText, setup } from '../support/command-harness.ts';
import { findViewProblems } from '../support/slack-limits.ts';

const nothing = expect.stringMatching(/ = note$/);
const now = new Date();

test('an app’s answer has its numbers first and no unit that the CDN does not name', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const [answer, ...more] = await harness.person().run(`app ${appIds.api}`);
  expect(more).toEqual([]);
  expect(readText(answer)).toMatchSnapshot();
  expect(`${readText(answer)}${answer?.text}`).not.toMatch(/\d\s*ms\b/);
});

test('its latency is a chart in the answer, with its peak in words', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const app = harness.cdn.data.apps.find(({ id }) => id === appIds.api);
  if (app)
    app.latencyChart = {
      // The chart has the newest eight, and the peak is one of them.
      ...Object.fromEntries(
        ['01', '12', '13', '14', '15', '16', '17', '18'].map((day, nth) => [`2026-11-${day}`, 90 - 9 * nth]),
      ),
      '2026-11-20T00:00:00Z': 44,
      '2026-11-19T00:00:00Z': 40.25,
      '2026-11-21T00:00:00Z': 61,
    };
  const [answer] = await harness.person().run(`app ${appIds.api}`);
  expect(readText(answer)).toContain('peak 63 on 14 Nov');
  expect(answer?.files).toBeUndefined();
  const [{ chart } = {}] = answer?.blocks?.filter(isChart) ?? [];
  const data = [
    ...[14, 15, 16, 17, 18].map((day, nth) => ({ label: `${day} Nov`, value: 63 - 9 * nth })),
    { label: '19 Nov', value: 40.25 },
    { label: '20 Nov', value: 44 },
    { label: '21 Nov', value: 61 },
  ];
  expect(chart).toMatchObject({ series: [{ name: 'Latency', data }] });
  expect(chart?.axis_config.y_label).toBe('Latency (no unit given)');
});

test('what is reported is not 0, however small, and a key of any unit is a time', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const latencyChart = { '1763640000000000': 5, '1763726400000000': 6 };
  harness.cdn.faults.add({ body: { averageLatency: 0.00034, totalVolumeSizeInGb: 0.0004, latencyChart } });
  const [answer] = await harness.person().run(`app ${appIds.api}`);
  expect(readText(answer)).toMatch(/0\.00034[^]*400 kB/u);
  expect(readText(answer)).toContain('6 on 21 Nov 12:00');
  harness.cdn.faults.add({ match: { path: /summary/ }, body: { latencyChart: { '1763636400': 5 } } });
  const [other] = await harness.person().run(`app ${appIds.worker}`);
  expect(readText(other)).toContain('5 on 20 Nov 11:00');
});

test('what the CDN does not report is said, and nothing is drawn of nothing', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  harness.cdn.faults.add({ match: { path: /summary/ }, body: { averageLatency: null, latencyChart: {} } });
  const [answer] = await harness.person().run('app app0api00000001');
  expect(readText(answer)).toMatchSnapshot();
  expect(readText(answer)).not.toContain('circle');
  expect(answer?.blocks?.some(isChart)).toBe(false);
});

test('a chart in another form is said to be one, and is in the file', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const latencyChart = { regions: { DE: { p50: 12, p90: 40 } } };
  harness.cdn.faults.add({ match: { path: /summary/ }, body: { currentLatency: 38.2, latencyChart } });
  const [answer] = await harness.person().run('app app0api00000001');
  expect(readText(answer)).toMatchSnapshot();
  const content = answer?.files?.[0]?.content;
  expect(content instanceof Uint8Array && JSON.parse(new TextDecoder().decode(content))).toEqual(
    latencyChart,
  );
});

test('where the zones are known already, those that lead to the app are named', async () => {
  await using harness = await createCommandHarness({ zones: 40 });
  const named = harness.cdn.data.zones.filter((zone) => zone.MagicContainersAppId === appIds.api);
  expect(named.length).toBeGreaterThan(0);
  const person = harness.person();
  await person.run('zones');
  const [answer] = await person.run(`app ${appIds.api}`);
  const labels = [...buttons(answer).keys()];
  expect(labels).toEqual(expect.arrayContaining(named.map(({ Name }) => Name)));
  const [first] = named;
  expect(buttons(answer).get(first?.Name ?? '')).toEqual(['zones:show', String(first?.Id)]);
});

test('without an id a form opens, with a menu of the apps the zones name that takes any id', async () => {
  await using harness = await createCommandHarness({ zones: 60 });
  const { command, words } = findCommand(parseWords('app'));
  const view = command.modal?.(words, setup);
  expect(view && findViewProblems(view)).toEqual([]);
  expect(view?.blocks.map((block) => block.block_id)).toEqual(['app']);

  const person = harness.person();
  const all = await person.search('apps:pick', '');
  const ids = new Set(harness.cdn.data.zones.map((zone) => zone.MagicContainersAppId).filter(Boolean));
  expect(new Set(all.map((line) => line.split(' = ')[1]))).toEqual(ids);
  const [first = ''] = ids;
  const zone = harness.cdn.data.zones.find((one) => one.MagicContainersAppId === first);
  expect(await person.search('apps:pick', zone?.Name ?? '')).toContain(`${first} = ${first}`);
  expect(await person.search('apps:pick', 'no such app')).toEqual([nothing]);

  const [answer] = (await person.submit('apps:submit', { app: ` ${appIds.api} ` })) as { text: string }[];
  expect(answer?.text).toMatch(/ app0api00000001 .* 38\.2\b/);
});

test('a key that was pasted into the menu is not offered as an id', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const lines = await harness.person().search('apps:pick', harness.cdn.key);
  expect(lines).toEqual([nothing]);
});

test.each([{}, { app: 'note:2' }, { app: '../zones' }])(
  'the form says by field what is wrong with %j',
  (fields) => {
    expect(findForm('apps:submit')?.read(fields, now)).toMatchSnapshot();
  },
);

test('an unknown app and an id that is none are refused in words', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  await expect(harness.person().run('app nosuchapp')).rejects.toMatchObject({ code: 'not_found' });
  const refusal = harness.person().run('app ../zones');
  await expect(refusal).rejects.toThrow(UserError);
  await expect(refusal).rejects.toThrowErrorMatchingSnapshot();
});
