import { expect, test } from 'vitest';
import { dayMs, hourMs } from '../../../src/lib/time.ts';
import { rollBack } from '../../../src/views/blocks/period.ts';
import { renderChanges, type ShownChanges } from '../../../src/views/zones/changes.ts';
import { setup } from '../../support/command-harness.ts';

const asOf = new Date('2026-11-26T12:00:00Z');
const daysAgo = (days: number): Date => new Date(asOf.getTime() - days * dayMs);
const shop = { id: '1', name: 'shop' };
const over = { from: daysAgo(30).getTime(), to: daysAgo(20).getTime() };
const old = { zones: 3, first: 0, skipped: 0, since: daysAgo(90), allSince: daysAgo(90) };

test.each<[string, Partial<ShownChanges>]>([
  ['a baseline before it', {}],
  ['a baseline within it', { look: { ...old, since: daysAgo(2), allSince: daysAgo(2) } }],
  ['the first look of some', { look: { ...old, first: 1 } }],
  ['some baselines within it', { look: { ...old, allSince: daysAgo(2) } }],
  ['baselines of several days within it', { look: { ...old, since: daysAgo(9), allSince: daysAgo(2) } }],
  ['a zone that cannot be read', { look: { ...old, skipped: 1 } }],
  ['no zone', { look: { zones: 0, first: 0, skipped: 0 } }],
  ['no zone that can be read', { look: { zones: 0, first: 0, skipped: 2 } }],
  ['one zone', { zone: shop, look: { ...old, zones: 1 } }],
  ['the first look of one', { zone: shop, look: { ...old, zones: 1, first: 1, since: asOf } }],
  ['a time that is over', { period: over }],
  ['a time before the baseline', { look: { ...old, since: daysAgo(2) }, period: over }],
  [
    'a time around the baseline',
    { look: { ...old, since: daysAgo(2) }, period: { ...over, to: asOf.getTime() - hourMs } },
  ],
])('no changes, %s: nothing is said of what was not recorded', (_, more) => {
  const about = { changes: [], total: 0, look: old, zone: undefined, period: rollBack(30 * 24 * 60, asOf) };
  const { blocks = [] } = renderChanges({ ...about, asOf, panel: setup.panel, ...more });
  expect(blocks.flatMap((block) => (block.type === 'section' ? block.text?.text : []))).toMatchSnapshot();
});
