import { expect, test } from 'vitest';
import { findPicker } from '../../src/commands/registry.ts';
import { createCommandHarness } from '../support/command-harness.ts';

test('the menu of scripts says by their zones which they are', async () => {
  await using office = await createCommandHarness({ zones: 12 });
  const links: [number, number | null][] = [
    [501, null],
    [501, 502],
    [503, 503],
    [-1, 504],
    [0, 0],
  ];
  office.cdn.data.zones.forEach((zone, index) => {
    const [edge, middleware] = links[index] ?? [-1, null];
    Object.assign(zone, { Name: `zone-${index}`, EdgeScriptId: edge, MiddlewareScriptId: middleware });
  });
  const options = (await findPicker('scriptId')?.run('', office.person().context)) ?? [];
  expect(options.map(({ text, description }) => [text.text, description?.text])).toEqual([
    ['501', 'Runs on zone-0 +1'],
    ['502', 'Middleware of zone-1'],
    ['503', 'Runs on zone-2 · Middleware of zone-2'],
    ['504', 'Middleware of zone-3'],
  ]);
  const person = office.person();
  expect(await person.search('scripts:pick', 'ZONE-1')).toEqual(['501 = 501', '502 = 502']);
  expect(await person.search('scripts:pick', '503')).toEqual(['503 = 503']);
  // 50 may be an id as well, although others begin with it.
  expect(await person.search('scripts:pick', '50')).toContain('Use the id 50 = 50');
  expect(await person.search('scripts:pick', '# 7')).toEqual(['No script of your zones matches = note']);
});

test('without a script the menu says so, and takes an id', async () => {
  await using office = await createCommandHarness({ data: { zones: [] } });
  const person = office.person();
  expect(await person.search('scripts:pick', '')).toEqual(['Your zones run no script: type its id = note']);
  expect(await person.search('scripts:pick', '#64001')).toEqual([
    'Use the id 64001 = 64001',
    'No script of your zones matches = note',
  ]);
});
