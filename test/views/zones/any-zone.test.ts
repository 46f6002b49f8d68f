import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { zoneFields } from '../../../simulator/cdn/zone-fields.ts';
import { sumTotals, type ZoneSummary } from '../../../src/api/zones/summary.ts';
import { readZone } from '../../../src/api/zones/zone.ts';
import { decodeZoneQuery, selectZones } from '../../../src/commands/zones/query.ts';
import {
  encodeZoneQuery,
  renderFirstZones,
  renderNoZones,
  renderZonePage,
  type ZoneQuery,
} from '../../../src/views/zones/list.ts';
import { renderUnclearZone, renderZoneOption } from '../../../src/views/zones/rows.ts';
import { renderZone as zoneView } from '../../../src/views/zones/zone.ts';
import { findMessageProblems, findOptionProblems } from '../../support/slack-limits.ts';

const at = new Date('2026-11-21T12:00:00Z');

// Texts that Slack would trip over: markup, entities, quotes, line breaks, nothing at all, and far too much.
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '<!channel>',
    '&amp;',
    '`',
    '*bold*',
    'a\nb',
    '&'.repeat(2100),
    '<'.repeat(300),
    '😀'.repeat(300),
  ),
);
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -1, 1e15),
);
const nullable = <T>(inner: fc.Arbitrary<T>) => fc.oneof({ weight: 5, arbitrary: inner }, fc.constant(null));
const strings = fc.array(nullable(text), { maxLength: 120 });

const action = {
  ActionType: nullable(fc.integer({ min: 0, max: 45 })),
  ActionParameter1: nullable(text),
  ActionParameter2: nullable(text),
  ActionParameter3: nullable(text),
};
const trigger = fc.record({
  Type: nullable(fc.integer({ min: 0, max: 20 })),
  PatternMatches: nullable(fc.array(text, { maxLength: 20 })),
  PatternMatchingType: nullable(fc.integer({ min: 0, max: 4 })),
  Parameter1: nullable(text),
});
const rule = fc.record({
  ...action,
  Triggers: nullable(fc.array(trigger, { maxLength: 12 })),
  ExtraActions: nullable(fc.array(fc.record(action), { maxLength: 8 })),
  TriggerMatchingType: nullable(fc.integer({ min: 0, max: 4 })),
  Description: nullable(text),
  Enabled: nullable(fc.boolean()),
  ReadOnly: nullable(fc.boolean()),
});
const hostname = fc.record({
  Value: nullable(text),
  ForceSSL: nullable(fc.boolean()),
  IsSystemHostname: nullable(fc.boolean()),
  IsManagedHostname: nullable(fc.boolean()),
  HasCertificate: nullable(fc.boolean()),
  CertificateProvisionType: nullable(fc.integer({ min: 0, max: 9 })),
});

function ofKind(kind: string): fc.Arbitrary<unknown> {
  const kinds: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    boolean: fc.boolean(),
    'string?': text,
    'string[]?': strings,
    'Hostname[]?': fc.array(hostname, { maxLength: 60 }),
    'EdgeRule[]?': fc.array(rule, { maxLength: 60 }),
    'OptimizerClass[]?': fc.array(fc.record({ Name: nullable(text) }), { maxLength: 20 }),
    'VendorAiImageBlueprint[]?': fc.constant([]),
    int32: number,
    int64: number,
    'int64?': number,
    double: number,
    decimal: number,
  };
  // What is left are enumerations, with numbers beyond those that are known.
  return nullable(kinds[kind] ?? fc.integer({ min: 0, max: 12 }));
}

const rawZone = fc.record(
  {
    ...Object.fromEntries(Object.entries(zoneFields).map(([name, kind]) => [name, ofKind(kind)])),
    Id: fc.integer({ min: 1 }),
  },
  { requiredKeys: ['Id'] },
);
const anyZone = rawZone.map((raw) => {
  const read = readZone(raw);
  if (!read) throw new Error('a zone with an id is a zone');
  return read.zone;
});

const query: fc.Arbitrary<ZoneQuery> = fc.record({
  search: fc.string({ unit: 'binary', maxLength: 100 }).filter((search) => search.length <= 100),
  sort: fc.constantFrom('name' as const, 'bandwidth' as const, 'charges' as const),
  only: fc.constantFrom(undefined, 'attention' as const, 'disabled' as const, 'suspended' as const),
  page: fc.integer({ min: 1, max: 5000 }),
});

test('any zone is a message that Slack takes', () => {
  fc.assert(
    fc.property(anyZone, (zone) => {
      expect(findMessageProblems(zoneView(zone, at))).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test('any list of zones is a message that Slack takes', () => {
  fc.assert(
    fc.property(fc.array(anyZone, { minLength: 1, maxLength: 10 }), query, (zones, query) => {
      const summaries: ZoneSummary[] = zones.map(({ summary }) => summary);
      const totals = sumTotals(summaries);
      const page = renderZonePage({
        zones: summaries,
        query,
        pages: 5000,
        totals,
        account: 50_000,
        skipped: 3,
        takenAt: at,
      });
      expect(findMessageProblems(page)).toEqual([]);
      const { search } = query;
      expect(findMessageProblems(renderFirstZones({ zones: summaries, total: 50_000, search }))).toEqual([]);
      const near = summaries.slice(0, 3).map(({ name }) => name);
      expect(findMessageProblems(renderNoZones(query, 5, near, query))).toEqual([]);
      expect(
        findMessageProblems(renderUnclearZone({ kind: 'several', words: search, zones: summaries })),
      ).toEqual([]);
      expect(findMessageProblems(renderUnclearZone({ kind: 'none', typed: search, near }))).toEqual([]);
      expect(findOptionProblems(summaries.map(renderZoneOption))).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

test('a query comes back from its button as it went in', () => {
  fc.assert(
    fc.property(query, (query) => {
      fc.pre(query.search.isWellFormed());
      expect(encodeZoneQuery(query).length).toBeLessThanOrEqual(1900);
      expect(decodeZoneQuery(encodeZoneQuery(query))).toEqual(query);
    }),
  );
});

test('sorting, filtering and pages never lose or repeat a zone', () => {
  fc.assert(
    fc.property(fc.array(anyZone, { maxLength: 15 }), query, (zones, query) => {
      const summaries = zones.map(({ summary }) => summary);
      const all = selectZones(summaries, { ...query, search: '', only: undefined });
      expect(all).toHaveLength(summaries.length);
      expect(new Set(all)).toEqual(new Set(summaries));
      const some = selectZones(summaries, query);
      expect(some.every((zone) => summaries.includes(zone))).toBe(true);
    }),
    { numRuns: 50 },
  );
});
