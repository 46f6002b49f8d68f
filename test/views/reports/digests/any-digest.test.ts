import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Attention } from '../../../../src/api/zones/summary.ts';
import { digestKinds } from '../../../../src/commands/reports/checks/list.ts';
import { renderDigest } from '../../../../src/commands/reports/digests/run-digest.ts';
import type { Collected } from '../../../../src/commands/reports/store.ts';
import { isChart, replaceNativeBlocks } from '../../../../src/views/blocks/native.ts';
import type { NamedGroup } from '../../../../src/views/reports/digests/post.ts';
import type { Threshold } from '../../../../src/views/reports/report.ts';
import { findChartProblems, findMessageProblems } from '../../../support/slack-limits.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '',
    ' ',
    '<!channel>',
    '&amp;',
    '`',
    '*bold*',
    'a\nb',
    '&'.repeat(60),
    '<'.repeat(60),
    '😀'.repeat(30),
  ),
);
const id = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String);
const amount = fc.oneof(fc.nat(), fc.double({ min: 0, max: 1e18, noNaN: true }), fc.constantFrom(0, 1, 1e15));
const iso = fc
  .date({ min: new Date('2020-01-01'), max: new Date('2035-01-01'), noInvalidDate: true })
  .map((at) => at.toISOString());
const list = <T>(of: fc.Arbitrary<T>, most: number) =>
  fc.oneof(fc.array(of, { maxLength: 3 }), fc.array(of, { maxLength: most, size: 'max' }));

/** Members that are undefined are left out, as they are in JSON. */
function arbitraryFigures(members: Readonly<Record<string, fc.Arbitrary<unknown>>>) {
  return fc
    .record(members)
    .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)));
}
const maybe = <T>(inner: fc.Arbitrary<T>) => fc.option(inner, { nil: undefined });

const compared = arbitraryFigures({
  now: amount,
  before: maybe(amount),
  weekBefore: maybe(amount),
  usual: maybe(amount),
});
const named = fc.record({ id, name: text });
const some: fc.Arbitrary<NamedGroup> = fc.record({ count: fc.nat(), first: list(named, 10) });
const states = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<Record<Attention, T>> =>
  fc.record({ disabled: of, suspended: of, 'near-limit': of, 'no-certificate': of });
const points = list(fc.tuple(fc.nat({ max: 2e12 }), amount), 30);

const zones = arbitraryFigures({
  scope: fc.constantFrom('', '1001 1002'),
  since: maybe(iso),
  zones: fc.nat(),
  skipped: fc.nat({ max: 3 }),
  used: maybe(amount),
  charges: maybe(amount),
  partial: fc.record({ used: fc.boolean(), charges: fc.boolean() }),
  attention: fc.nat(),
  chargesBefore: maybe(amount),
  perDay: maybe(compared),
  busiest: list(
    arbitraryFigures({
      id,
      name: text,
      used: amount,
      limit: maybe(amount),
      perDay: compared,
    }),
    30,
  ),
  limits: list(
    fc.record({ id, name: text, used: amount, limit: amount, reaches: iso, isNew: fc.boolean() }),
    10,
  ),
  troubled: list(
    arbitraryFigures({
      id,
      name: text,
      why: text,
      hasState: fc.boolean(),
      hasLimit: fc.boolean(),
      used: maybe(amount),
      limit: maybe(amount),
    }),
    40,
  ),
  missing: list(id, 20),
  news: maybe(fc.record({ joined: some, left: some, became: states(some), recovered: states(some) })),
  trend: points,
});

const errors = arbitraryFigures({
  scope: fc.constant(''),
  since: maybe(iso),
  from: iso,
  total: fc.nat(),
  perDay: compared,
  read: fc.nat({ max: 25 }),
  asked: fc.nat({ max: 25 }),
  of: fc.nat(),
  zones: list(
    arbitraryFigures({
      id,
      name: text,
      total: fc.nat(),
      perDay: compared,
      mostly: maybe(text),
    }),
    25,
  ),
  codes: list(fc.tuple(text, fc.nat()), 12),
  fresh: list(fc.record({ id, name: text, code: text, count: fc.nat() }), 10),
  trend: points,
  undated: maybe(fc.nat()),
});

const scan = arbitraryFigures({
  id,
  since: maybe(iso),
  last: maybe(fc.constantFrom('2026-11-03', '2024-02-29')),
  days: fc.integer({ min: 1, max: 7 }),
  scanned: maybe(amount),
  blocked: maybe(amount),
  isPartial: maybe(fc.constant(true)),
  perDay: maybe(compared),
  trend: points,
});

const app = arbitraryFigures({
  id: text.filter((word) => word !== ''),
  since: maybe(iso),
  status: maybe(text),
  wasStatus: maybe(text),
  average: maybe(compared),
  cost: maybe(compared),
  trend: points,
});

const collected = arbitraryFigures({
  at: iso,
  zones: maybe(zones),
  errors: maybe(errors),
  scanning: maybe(list(scan, 20)),
  apps: maybe(fc.record({ apps: list(app, 25), more: fc.nat() })),
  settings: maybe(
    arbitraryFigures({
      since: maybe(iso),
      zones: fc.nat(),
      first: fc.nat(),
      total: fc.nat(),
      changes: list(
        fc.record({
          zoneId: id,
          zone: text,
          setting: text,
          change: fc.string({ unit: 'binary', maxLength: 250 }),
          at: iso,
        }),
        49,
      ),
      missing: list(id, 49),
    }),
  ),
  unread: list(
    arbitraryFigures({
      kind: fc.constantFrom(...digestKinds.map(({ name }) => name)),
      what: maybe(text),
      message: fc.constantFrom('The CDN did not answer.', 'It said: “&lt;b&gt;”.'),
      reference: maybe(text),
    }),
    12,
  ),
});
const only: fc.Arbitrary<Threshold> = fc.oneof(
  fc.constantFrom('always', 'changed', 'new'),
  fc.record({ above: fc.nat() }),
);

test('any figures are a few lines and a thread that Slack takes', () => {
  fc.assert(
    fc.property(collected, only, fc.constantFrom('UTC', 'Pacific/Apia'), (found, only, timeZone) => {
      // What is stored is what is drawn.
      expect(JSON.parse(JSON.stringify(found))).toEqual(found);
      const { top, thread } = renderDigest(found as unknown as Collected, { only, timeZone });
      // A number and a change of each subject, what is more, and what was not read.
      expect(top.text.split('\n').length).toBeLessThanOrEqual(12);
      expect(top.blocks?.length).toBeLessThanOrEqual(4);
      expect(thread.length).toBeLessThanOrEqual(6);
      for (const message of [top, ...thread]) {
        expect(findMessageProblems(message)).toEqual([]);
        const charts = message.blocks?.filter(isChart) ?? [];
        expect(charts.length).toBeLessThanOrEqual(1);
        expect(charts.flatMap(findChartProblems)).toEqual([]);
        const inWords = { ...message, blocks: replaceNativeBlocks(message.blocks ?? []) };
        expect(findMessageProblems(inWords)).toEqual([]);
      }
    }),
    { numRuns: 200 },
  );
});
