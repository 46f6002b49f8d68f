import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { summarize, type ZoneSummary } from '../../src/api/zones/summary.ts';
import { renderApiKeys } from '../../src/views/api-keys.ts';
import { renderApp, renderAppForm, renderAppOption } from '../../src/views/apps.ts';
import { describeAttention, describeStepFailure, toOutput } from '../../src/views/steps.ts';
import { renderScanning, renderScanningForm } from '../../src/views/upload-scanning.ts';
import { setup } from '../support/command-harness.ts';
import { findOptionProblems, findViewProblems } from '../support/slack-limits.ts';
import { findProblems, maybe, number, longText as text } from './any.ts';

const asOf = new Date('2026-11-21T12:00:00Z');
/** Members that are undefined are left out, as the client does. */
const arbitraryReport = <T extends object>(members: { [Name in keyof T]: fc.Arbitrary<T[Name]> }) =>
  fc.record<T>(members).map((all) => {
    const kept = Object.entries(all).filter(([, value]) => value !== undefined);
    return Object.fromEntries(kept) as { [Name in keyof T]?: Exclude<T[Name], undefined> };
  });

const appSummary = fc
  .tuple(
    arbitraryReport({
      averageLatency: maybe(number),
      currentLatency: maybe(number),
      totalVolumeSizeInGb: maybe(number),
      monthlyCost: maybe(number),
      status: maybe(text),
    }),
    fc.array(
      fc
        .tuple(text, maybe(fc.integer({ min: 0, max: 4e12 })), number)
        .map(([label, at, latency]) => ({ label, latency, ...(at === undefined ? {} : { at }) })),
      { maxLength: 200 },
    ),
  )
  .map(([numbers, latencyChart]) => ({ ...numbers, latencyChart }));

const metrics = fc
  .tuple(
    arbitraryReport({
      totalLoggedRequests: maybe(number),
      totalBlockedRequests: maybe(number),
      totalFilesScanned: maybe(number),
    }),
    fc.array(
      fc
        .tuple(
          text,
          maybe(fc.constantFrom('2026-11-03', '2024-02-29')),
          arbitraryReport({
            loggedRequests: maybe(number),
            blockedRequests: maybe(number),
            filesScanned: maybe(number),
          }),
        )
        .map(([label, day, counts]) => ({ label, ...counts, ...(day ? { day } : {}) })),
      { maxLength: 90 },
    ),
  )
  .map(([totals, days]) => ({ ...totals, days }));

test('any app is a message that Slack takes', () => {
  fc.assert(
    // What the client lets through as an id.
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), appSummary, (id, app) => {
      const shown = renderApp({ id, app, zones: undefined, panel: setup.panel, asOf });
      expect(findProblems(shown)).toEqual([]);
    }),
  );
});

test('any scanning is a message that Slack takes', () => {
  fc.assert(
    fc.property(fc.nat().map(String), metrics, (id, seen) => {
      expect(findProblems(renderScanning({ id, metrics: seen, asOf }))).toEqual([]);
    }),
  );
});

test('any keys are a message that Slack takes', () => {
  const key = fc
    .tuple(text, fc.array(text, { maxLength: 40 }), fc.boolean(), maybe(fc.string({ maxLength: 4 })))
    .map(([id, roles, mine, tail]) => ({ id, roles, isOwn: mine, ...(tail === undefined ? {} : { tail }) }));
  fc.assert(
    fc.property(fc.array(key, { maxLength: 150 }), fc.nat(), (keys, skipped) => {
      expect(findProblems(renderApiKeys(keys, skipped, asOf))).toEqual([]);
    }),
  );
});

test('the forms, and a menu of any apps, are ones that Slack takes', () => {
  expect(findViewProblems(renderAppForm())).toEqual([]);
  expect(findViewProblems(renderScanningForm())).toEqual([]);
  const listed = fc.record({
    id: fc.string({ minLength: 1, maxLength: 75 }),
    zones: fc.array(text, { minLength: 1, maxLength: 5 }),
  });
  fc.assert(
    fc.property(fc.array(listed, { maxLength: 100 }), (apps) => {
      expect(findOptionProblems(apps.map(renderAppOption))).toEqual([]);
    }),
  );
});

const zones = fc
  .array(fc.record({ Id: fc.nat(), Name: text, Enabled: fc.boolean(), Suspended: fc.boolean() }), {
    maxLength: 300,
  })
  .map((raw) => raw.map(summarize).filter((zone): zone is ZoneSummary => zone !== undefined));

const isPlain = (output: string): boolean => output.length <= 3000 && !/[<>]/u.test(output);

test('any zones make outputs that are short and no markup', () => {
  fc.assert(
    fc.property(zones, fc.nat(), (found, skipped) => {
      const { count, list, summary } = describeAttention(found, {
        all: found.length,
        skipped,
        unknown: skipped,
      });
      expect([count, isPlain(list), isPlain(summary), summary.length > 0]).toEqual([
        found.length,
        true,
        true,
        true,
      ]);
      // An output that is required may not be empty where there is something to tell.
      expect(list === '').toBe(found.length === 0);
    }),
    { numRuns: 60 },
  );
});

test('any failure is told as text that is short and no markup', () => {
  fc.assert(
    fc.property(text, text, (message, hint) => {
      const said = describeStepFailure({
        message: `It failed: ${message}`,
        hint,
        offer: 'connect',
        reference: 'R1',
      });
      expect(isPlain(said) && isPlain(toOutput(message))).toBe(true);
    }),
  );
});
