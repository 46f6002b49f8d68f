import { expect, test } from 'vitest';
import type { Drift } from '../../src/api/http/request.ts';
import { createDriftWatch } from '../../src/app/drift.ts';
import { dayMs } from '../../src/lib/time.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

function setUp() {
  const written: string[] = [];
  const log = createLogger('debug', { write: (line) => written.push(line) });
  const metrics = createMetrics();
  let at = Date.parse('2026-11-21T12:00:00Z');
  const watch = createDriftWatch({ log, now: () => new Date(at), count: metrics.cdnDrift });
  const lines = () => written.map((line) => JSON.parse(line) as Drift);
  return { watch, lines, metrics, nextDay: () => void (at += dayMs) };
}

const drift = (more: Partial<Drift>): Drift => ({
  operation: 'List Pull Zones',
  wrong: [],
  missing: [],
  unknown: [],
  ...more,
});

test('each member is logged once a day for its operation, one that is found later too', () => {
  const { watch, lines, nextDay } = setUp();
  for (let nth = 0; nth < 3; nth += 1) watch.report(drift({ unknown: ['NewLevel'] }));
  watch.report(drift({ operation: 'List API Keys', wrong: ['Roles'] }));
  expect(lines().map(({ operation, unknown }) => [operation, unknown])).toEqual([
    ['List Pull Zones', ['NewLevel']],
    ['List API Keys', []],
  ]);
  // Missing from a later answer of the same day: only the news is told.
  watch.report(drift({ unknown: ['NewLevel'], missing: ['Name'] }));
  watch.report(drift({ unknown: ['NewLevel'], missing: ['Name'], wrong: ['Name'] }));
  expect(lines().slice(2)).toMatchObject([
    { operation: 'List Pull Zones', missing: ['Name'], unknown: [], wrong: [] },
    { operation: 'List Pull Zones', missing: [], unknown: [], wrong: ['Name'] },
  ]);
  nextDay();
  watch.report(drift({ unknown: ['NewLevel'] }));
  expect(lines()).toHaveLength(5);
});

test('the doctor takes new members for harmless, and those that cannot be read not', () => {
  const { watch } = setUp();
  expect(watch.examine()).toMatchObject({ state: 'ok', says: 'as specified so far' });
  watch.report(drift({ unknown: ['NewLevel'] }));
  expect(watch.examine()).toEqual({
    check: 'cdn answers',
    state: 'ok',
    says: 'has fields that the bot does not read: List Pull Zones: not in the specification: NewLevel',
  });
  watch.report(drift({ wrong: ['Enabled'], missing: ['Name'] }));
  expect(watch.examine()).toMatchObject({
    state: 'limited',
    says: 'List Pull Zones: of another type: Enabled; List Pull Zones: missing: Name; List Pull Zones: not in the specification: NewLevel',
  });
});

test('the metric counts members, and names that the service makes up are bounded there and in the log', async () => {
  const { watch, metrics, lines } = setUp();
  for (let nth = 0; nth < 300; nth += 1) watch.report(drift({ unknown: [`New${nth}`] }));
  expect(lines()).toHaveLength(100);
  const text = await metrics.render({});
  const counts = [...text.matchAll(/^chatops_cdn_drift_members\{.*kind="(\w+)"\} (\d+)$/gmu)];
  expect(counts.map(([, kind, count]) => [kind, count])).toEqual([
    ['wrong', '0'],
    ['missing', '0'],
    ['unknown', '100'],
  ]);
  expect(watch.examine().says).toContain('and 90 more');
});
