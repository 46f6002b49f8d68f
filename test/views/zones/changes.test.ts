import { expect, test } from 'vitest';
import { dayMs, hourMs } from '../../../src/lib/time.ts';
import { renderChanges, type ShownChanges } from '../../../src/views/zones/changes.ts';

const asOf = new Date('2026-11-26T12:00:00Z');
const daysAgo = (days: number): Date => new Date(asOf.getTime() - days * dayMs);
const shop = { id: '1', name: 'shop' };
const old = { zones: 3, first: 0, skipped: 0, since: daysAgo(90), allSince: daysAgo(90) };

test.each<[string, Partial<ShownChanges>]>([
  ['a baseline before it', {}],
  ['a baseline within it', { look: { ...old, since: daysAgo(2), allSince: daysAgo(2) } }],
  ['the first look of some', { look: { ...old, first: 1 } }],
  ['some baselines within it', { look: { ...old, allSince: daysAgo(2) } }],
  ['a zone that cannot be read', { look: { ...old, skipped: 1 } }],
  ['one zone', { zone: shop, look: { ...old, zones: 1 } }],
  ['the first look of one', { zone: shop, look: { ...old, zones: 1, first: 1, since: asOf } }],
  ['a time that is over', { until: daysAgo(20), period: '2026-10-27..2026-11-06' }],
  [
    'a time before the baseline',
    { until: daysAgo(20), look: { ...old, since: daysAgo(2) }, period: '2026-10-27..2026-11-06' },
  ],
  [
    'a time around the baseline',
    { until: new Date(asOf.getTime() - hourMs), look: { ...old, since: daysAgo(2) }, period: 'x' },
  ],
])('no changes, %s: nothing is said of what was not recorded', (_, more) => {
  const about = { changes: [], total: 0, look: old, zone: undefined, period: '30d', from: daysAgo(30) };
  const panel = { zone: '', app: '', script: undefined, storage: undefined, keys: '' };
  const { blocks = [] } = renderChanges({ ...about, until: undefined, asOf, panel, ...more });
  expect(blocks.flatMap((block) => (block.type === 'section' ? block.text?.text : []))).toMatchSnapshot();
});
