import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { zoneFields } from '../../../simulator/cdn/zone-fields.ts';
import { sumTotals, type ZoneSummary } from '../../../src/api/zones/summary.ts';
import { findCommand } from '../../../src/commands/registry.ts';
import { parseWords } from '../../../src/commands/words.ts';
import { readZoneQuery } from '../../../src/commands/zones/query.ts';
import {
  carriedKinds,
  renderNoZones,
  renderZoneList,
  writeZoneQuery,
  type ZoneQuery,
  zoneFilters,
  zoneSorts,
} from '../../../src/views/zones/list.ts';
import { renderUnclearZone, renderZoneOption } from '../../../src/views/zones/rows.ts';
import { renderZone, renderZonePart, zoneParts } from '../../../src/views/zones/zone.ts';
import { readWholeZone } from '../../api/zones/values.ts';
import { setup } from '../../support/command-harness.ts';
import { findMessageProblems, findOptionProblems } from '../../support/slack-limits.ts';
import { findProblems, number, longText as text } from '../any.ts';

const at = new Date('2026-11-21T12:00:00Z');
const { panel } = setup;

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
const anyZone = rawZone.map((raw) => readWholeZone(raw).zone);

const words = fc
  .string({ unit: 'binary', maxLength: 100 })
  .map((typed) => typed.trim().slice(0, 100))
  .filter((typed) => typed.isWellFormed());
const query: fc.Arbitrary<ZoneQuery> = fc.record({
  search: words,
  sort: fc.constantFrom(...zoneSorts),
  only: fc.constantFrom(undefined, ...zoneFilters),
  carried: fc.dictionary(
    fc.constantFrom(...carriedKinds),
    // Zeros before an id are no part of it.
    words.filter((typed) => typed !== '' && !/^\W*0+\d+\W*$/u.test(typed)),
  ),
});

test('any zone is a message that Slack takes', () => {
  fc.assert(
    fc.property(anyZone, (zone) => {
      const shown = { zone, asOf: at, panel };
      expect(findProblems(renderZone(shown))).toEqual([]);
      for (const part of zoneParts) expect(findProblems(renderZonePart(shown, part))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test('any list of zones is a message that Slack takes', () => {
  fc.assert(
    fc.property(fc.array(anyZone, { minLength: 1, maxLength: 10 }), query, (zones, query) => {
      const summaries: ZoneSummary[] = zones.map(({ summary }) => summary);
      const about = { query, totals: sumTotals(summaries), account: 50_000, skipped: 3, unknown: 2 };
      expect(findProblems(renderZoneList({ zones: summaries, ...about, takenAt: at, panel }))).toEqual([]);
      const { search } = query;
      const near = summaries.slice(0, 3).map(({ name }) => name);
      expect(findMessageProblems(renderNoZones(query, about, near))).toEqual([]);
      expect(
        findMessageProblems(renderUnclearZone({ kind: 'several', words: search, zones: summaries })),
      ).toEqual([]);
      expect(
        findMessageProblems(renderUnclearZone({ kind: 'none', typed: search, near, unread: near.length })),
      ).toEqual([]);
      expect(findOptionProblems(summaries.map(renderZoneOption))).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

test('the typed words of a query lead to it', () => {
  const plain = fc.stringMatching(/^[a-z\d][a-z\d.-]{0,20}$/u);
  const typed = fc.record({
    search: fc.oneof(fc.constant(''), plain),
    sort: fc.constantFrom(...zoneSorts),
    only: fc.constantFrom(undefined, ...zoneFilters),
    // Zeros before an id are no part of it.
    carried: fc.dictionary(
      fc.constantFrom(...carriedKinds),
      plain.filter((word) => !/^0+\d+$/u.test(word)),
    ),
  });
  fc.assert(
    fc.property(typed, (query) => {
      expect(readZoneQuery(findCommand(parseWords(writeZoneQuery(query))).words)).toEqual(query);
    }),
  );
});
