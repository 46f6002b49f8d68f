import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CdnSimulator, startCdn } from '../../simulator/cdn/server.ts';
import { volumePath } from '../../src/api/apps.ts';
import { type CdnClient, createCdn } from '../../src/api/cdn.ts';
import type { OriginError } from '../../src/api/origin-errors/origin-errors.ts';
import { variableBody, variablePath } from '../../src/api/variables.ts';
import { Secret } from '../../src/secrets/secret.ts';

// All eight operations against the simulated CDN, which speaks the specification and was written apart from the client.
const now = Date.parse('2026-11-20T12:00:00Z');
const lastHour = { from: new Date(now - 3_600_000), to: new Date(now) };
let cdn: CdnSimulator;

beforeAll(async () => {
  cdn = await startCdn({ zones: 1_230, now: () => now });
});
afterAll(() => cdn.close());

function client(key = cdn.key): CdnClient {
  const { url: apiUrl, originLoggingUrl } = cdn;
  return createCdn({
    apiUrl,
    originLoggingUrl,
    now: () => now,
    random: () => 0,
    sleep: async () => {},
  }).withKey(new Secret(key));
}

/** Every operation once, with ids that exist; the deletion last. */
async function everything(): Promise<unknown[]> {
  const { pullZones, apiKeys, variables, originErrors, apps, volumes, uploadScanning, eventLogs } = client();
  const errors: [OriginError, unknown][] = [];
  const zone = await pullZones.find(({ name }) => name === 'checkout');
  const file = await eventLogs.export('501', lastHour);
  return [
    await pullZones.firstPage(),
    await pullZones.all(),
    zone,
    await apiKeys.list(),
    await variables.update(variablePath('301', '13'), variableBody({ required: false })),
    await originErrors.forEach(
      zone?.summary.id ?? '',
      '2026-11-20',
      (entry) => void errors.push([entry, entry.details()]),
    ),
    errors,
    await apps.summary('app0api00000001'),
    await uploadScanning.metrics('501'),
    (await new Response(file.body).text()).split('\n').length,
    await volumes.deleteAll(volumePath('app0worker00002', 'old-cache')),
  ];
}

test('every operation answers, and no planted secret is in what it gives', async () => {
  const given = await everything();
  const [first, all, zone, keys, variable, day, errors, app, scanning, lines, deletion] = given;
  expect(first).toMatchObject({ total: 1_230, more: true, skipped: 0 });
  expect(all).toMatchObject({ skipped: 0 });
  expect((all as { zones: unknown[] }).zones).toHaveLength(1_230);
  expect(zone).toMatchObject({ summary: { name: 'checkout' }, members: { Name: 'checkout' } });
  expect((keys as { keys: unknown[] }).keys).toHaveLength(5);
  expect(variable).toMatchObject({ name: 'PAYMENT_TOKEN', required: false });
  expect(day).toEqual({ entries: 240, skipped: 0, moreExist: false });
  expect(errors).toHaveLength(240);
  expect(app).toMatchObject({ averageLatency: 41.7, status: 'active' });
  expect((app as { latencyChart: unknown[] }).latencyChart).toHaveLength(30);
  expect((scanning as { days: unknown[] }).days).toHaveLength(28);
  expect(lines).toBeGreaterThan(2);
  expect(deletion).toEqual({ ids: ['vi-5'], requestId: expect.any(String) });
  expect(JSON.stringify(given)).not.toContain('CANARY');
});
