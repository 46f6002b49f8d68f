import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { digestKinds } from '../../../../src/commands/reports/checks/list.ts';
import { renderDigest } from '../../../../src/commands/reports/digests/run-digest.ts';
import type { Collected } from '../../../../src/commands/reports/store.ts';
import { isChart } from '../../../../src/views/blocks/native.ts';
import type { Threshold } from '../../../../src/views/reports/report.ts';
import { findProblems, list, text } from '../../any.ts';

const id = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String);
const amount = fc.oneof(fc.nat(), fc.double({ min: 0, max: 1e18, noNaN: true }), fc.constantFrom(0, 1, 1e15));
const count = fc.nat();
const iso = fc.nat({ max: 2e12 }).map((at) => new Date(at).toISOString());

/** Members whose name ends with `?` may be missing. */
function record(members: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> {
  const names = Object.keys(members);
  const all = Object.fromEntries(names.map((name) => [name.replace('?', ''), members[name] as typeof text]));
  return fc.record(all, { requiredKeys: names.filter((name) => !name.endsWith('?')) });
}

const compared = record({ now: amount, 'before?': amount, 'weekBefore?': amount, 'usual?': amount });
const zone = { id, name: text };
const group = record({ count, first: list(record(zone), 10) });
const states = record({ disabled: group, suspended: group, 'near-limit': group, 'no-certificate': group });
const trend = list(fc.tuple(fc.nat({ max: 2e12 }), amount), 30);
const limit = { ...zone, used: amount, limit: amount, reaches: iso, isNew: fc.boolean() };
const use = { ...zone, 'limit?': amount, hasState: fc.boolean(), hasLimit: fc.boolean() };

const zones = record({
  scope: fc.constantFrom('', '1001 1002'),
  'since?': iso,
  zones: count,
  skipped: fc.nat({ max: 3 }),
  'used?': amount,
  'charges?': amount,
  partial: record({ used: fc.boolean(), charges: fc.boolean() }),
  attention: count,
  'chargesBefore?': amount,
  'perDay?': compared,
  busiest: list(record({ ...use, used: amount, perDay: compared }), 30),
  limits: list(record(limit), 10),
  troubled: list(record({ ...use, 'used?': amount, why: text }), 40),
  missing: list(id, 20),
  'news?': record({ joined: group, left: group, became: states, recovered: states }),
  trend,
});
const errors = record({
  scope: fc.constant(''),
  'since?': iso,
  from: iso,
  total: count,
  perDay: compared,
  read: fc.nat({ max: 25 }),
  asked: fc.nat({ max: 25 }),
  of: count,
  zones: list(record({ ...zone, total: count, perDay: compared, 'mostly?': text }), 25),
  codes: list(fc.tuple(text, count), 12),
  fresh: list(record({ ...zone, code: text, count }), 10),
  'undated?': count,
  trend,
});
const scan = record({
  id,
  'since?': iso,
  'last?': fc.constantFrom('2026-11-03', '2024-02-29'),
  days: fc.integer({ min: 1, max: 7 }),
  'scanned?': amount,
  'blocked?': amount,
  'isPartial?': fc.constant(true),
  'perDay?': compared,
  trend,
});
const app = record({
  id: text.filter((word) => word !== ''),
  'since?': iso,
  'status?': text,
  'wasStatus?': text,
  'average?': compared,
  'cost?': compared,
  trend,
});
const change = { zoneId: id, zone: text, setting: text, change: text, at: iso };
const settings = record({
  'since?': iso,
  zones: count,
  first: count,
  total: count,
  changes: list(record(change), 49),
  missing: list(id, 49),
});
const unread = record({
  kind: fc.constantFrom(...digestKinds.map(({ name }) => name)),
  'what?': text,
  message: fc.constantFrom('The CDN did not answer.', 'It said: “&lt;b&gt;”.'),
  'reference?': text,
});
const collected = record({
  at: iso,
  'zones?': zones,
  'errors?': errors,
  'scanning?': list(scan, 20),
  'apps?': record({ apps: list(app, 25), more: count }),
  'settings?': settings,
  unread: list(unread, 12),
});
const only: fc.Arbitrary<Threshold> = fc.oneof(
  fc.constantFrom('always', 'changed', 'new'),
  fc.record({ above: fc.nat() }),
);

test('any figures are a few lines and a thread that Slack takes', () => {
  fc.assert(
    fc.property(collected, only, fc.constantFrom('UTC', 'Pacific/Apia'), (found, only, timeZone) => {
      const stored = JSON.parse(JSON.stringify(found)) as Collected;
      const { top, thread } = renderDigest(stored, { only, timeZone });
      // A number and a change of each subject, what is more, and what was not read.
      expect(top.text.split('\n').length).toBeLessThanOrEqual(12);
      expect(top.blocks?.length).toBeLessThanOrEqual(4);
      expect(thread.length).toBeLessThanOrEqual(6);
      for (const message of [top, ...thread]) {
        expect(findProblems(message)).toEqual([]);
        expect(message.blocks?.filter(isChart).length ?? 0).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns: 200 },
  );
});
