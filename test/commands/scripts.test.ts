import { expect, test } from 'vitest';
import { findPicker } from '../../src/commands/registry.ts';
import { createCommandHarness } from '../support/command-harness.ts';

const valueOf = (option: string) => option.split(' = ').at(-1);

test('the menu of scripts says by their zones which they are', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const links: [number, number | null][] = [
    [501, null],
    [501, 502],
    [503, 503],
    [-1, 504],
    [0, 0],
  ];
  harness.cdn.data.zones.forEach((zone, index) => {
    const [edge, middleware] = links[index] ?? [-1, null];
    Object.assign(zone, { Name: `zone-${index}`, EdgeScriptId: edge, MiddlewareScriptId: middleware });
  });
  const options = (await findPicker('scriptId')?.run('', harness.person().context)) ?? [];
  expect(options.map(({ value, description }) => [value, description?.text])).toMatchSnapshot();
  const person = harness.person();
  expect(await person.search('scripts:pick', 'ZONE-1')).toEqual(['501 = 501', '502 = 502']);
  expect(await person.search('scripts:pick', '503')).toEqual(['503 = 503']);
  // 50 may be an id as well, although others begin with it.
  expect((await person.search('scripts:pick', '50')).map(valueOf)).toContain('50');
  expect((await person.search('scripts:pick', '# 7')).map(valueOf)).toEqual(['note']);
});

test('without a script the menu says so, and takes an id', async () => {
  await using harness = await createCommandHarness({ data: { zones: [] } });
  const person = harness.person();
  const found = [await person.search('scripts:pick', ''), await person.search('scripts:pick', '#64001')];
  expect(found.map((options) => options.map(valueOf))).toEqual([['note'], ['64001', 'note']]);
  expect(found).toMatchSnapshot();
});
