import { expect, test } from 'vitest';
import { home } from '../../src/commands/registry.ts';
import { alice, desk } from '../commands/person.ts';
import { viewProblems } from './limits.ts';

test('the Home tab shows who I am, whether a key is connected, and the next step', async () => {
  await using office = await desk({ zones: 1 });
  const before = await home(office.person(alice, 'none').context);
  expect(viewProblems(before)).toEqual([]);
  expect(JSON.stringify(before)).toMatch(/<@U0ALICE00>, \*no CDN key is connected.*connect:open/u);
  const after = await home(office.person().context);
  expect(viewProblems(after)).toEqual([]);
  expect(JSON.stringify(after)).toMatch(/f1a9c0de.*rights: read/u);
  expect(JSON.stringify(after)).toContain('"value":"zones"');
});
