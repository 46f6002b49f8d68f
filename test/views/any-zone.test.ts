import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { zoneFields } from '../../simulator/cdn/zone-fields.ts';
import { readZone } from '../../src/api/zone.ts';
import type { ZoneSummary } from '../../src/api/zone-summary.ts';
import { weaknesses } from '../../src/commands/posture.ts';
import { parseZoneQuery, select, type ZoneQuery, zoneQueryValue } from '../../src/commands/zone-query.ts';
import { attention, totalsOf } from '../../src/reports/attention.ts';
import { zone as zoneView } from '../../src/views/zone.ts';
import { noZone, zoneChoice, zoneOption } from '../../src/views/zone-choice.ts';
import { firstZones, noZones, zonePage } from '../../src/views/zones.ts';
import { messageProblems, optionProblems } from './limits.ts';

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
      expect(
        messageProblems(
          zoneView({ zone, attention: attention(zone.summary), weaknesses: weaknesses(zone), asOf: at }),
        ),
      ).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test('any list of zones is a message that Slack takes', () => {
  fc.assert(
    fc.property(fc.array(anyZone, { minLength: 1, maxLength: 10 }), query, (zones, query) => {
      const summaries: ZoneSummary[] = zones.map(({ summary }) => summary);
      const rows = summaries.map((zone) => ({ zone, attention: attention(zone) }));
      const totals = totalsOf(summaries);
      const page = zonePage({
        rows,
        query,
        pages: 5000,
        found: 50_000,
        totals,
        account: totals,
        skipped: 3,
        takenAt: at,
        value: zoneQueryValue,
      });
      expect(messageProblems(page)).toEqual([]);
      const { search } = query;
      expect(messageProblems(firstZones({ rows, total: 50_000, search }))).toEqual([]);
      const near = summaries.slice(0, 3).map(({ name }) => name);
      expect(messageProblems(noZones(query, { zones: 5 }, near, zoneQueryValue(query)))).toEqual([]);
      expect(messageProblems(zoneChoice(search, summaries))).toEqual([]);
      expect(messageProblems(noZone(search, near))).toEqual([]);
      expect(optionProblems(summaries.map(zoneOption))).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

test('a query comes back from its button as it went in', () => {
  fc.assert(
    fc.property(query, (query) => {
      fc.pre(query.search.isWellFormed());
      expect(zoneQueryValue(query).length).toBeLessThanOrEqual(1900);
      expect(parseZoneQuery(zoneQueryValue(query))).toEqual(query);
    }),
  );
});

test('sorting, filtering and pages never lose or repeat a zone', () => {
  fc.assert(
    fc.property(fc.array(anyZone, { maxLength: 15 }), query, (zones, query) => {
      const summaries = zones.map(({ summary }) => summary);
      const all = select(summaries, { ...query, search: '', only: undefined });
      expect(all).toHaveLength(summaries.length);
      expect(new Set(all)).toEqual(new Set(summaries));
      const some = select(summaries, query);
      expect(some.every((zone) => summaries.includes(zone))).toBe(true);
    }),
    { numRuns: 50 },
  );
});
