import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { findFreePort } from '../../simulator/free-port.ts';
import { features } from '../../src/commands/registry.ts';
import { ask, useBot } from '../support/bot.ts';
import { alice, bob, ops } from '../support/people.ts';

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

// With signed HTTP the port of the deliveries is public: metrics have a port of their own.
const metricsPort = await findFreePort();
const env = { METRICS_PORT: String(metricsPort) };
const bot = await useBot({ transport: 'http', zones: 12, env });

const { types, samples } = await scrape();

/** What metrics say, once things have happened. */
async function scrape() {
  const person = bot.slack.as(alice, ops);
  await ask(person, 'zones');
  // The policy refuses Bob, the CDN fails once, Slack takes no chart and asks once for a pause.
  const other = bot.slack.as(bob, ops);
  await other.slash('settings');
  await other.waitForModal(/only admins/iu);
  bot.cdn.faults.add({ match: { path: /pullzone/ }, status: 503, times: 1 });
  await ask(person, 'zone shop');
  await bot.slack.event({ type: 'app_home_opened', user: alice, tab: 'home', channel: 'D0' });
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gmu)].map(([, name = '', type = '']) => [name, type]),
  );
  const samples: Sample[] = [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gmu)].map(
    ([, name = '', labels = '', value]) => ({
      name,
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="([^"]*)"/gu)].map(([, label, is]) => [label, is]),
      ),
      value: Number(value),
    }),
  );
  return { types, samples };
}

const valueOf = (name: string, labels: Sample['labels'] = {}): number | undefined =>
  samples.find(
    (one) =>
      one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
  )?.value;

/** The metric that a sample belongs to. */
const metricOf = (name: string): string =>
  types.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/u, '');

test('a delivery is counted from Slack’s timestamp to its acknowledgement and its answer', () => {
  const transport = { transport: 'http' };
  const all = valueOf('chatops_acknowledgement_seconds_count', transport) ?? 0;
  expect(all).toBeGreaterThan(5);
  expect(valueOf('chatops_acknowledgement_since_sent_seconds_count', transport)).toBe(all);
  expect(valueOf('chatops_acknowledgement_since_sent_seconds_sum', transport)).toBeLessThan(all * 3);
  expect(valueOf('chatops_deliveries_total', { feature: 'zones', outcome: 'answered' })).toBe(1);
  expect(valueOf('chatops_work_seconds_count', { feature: 'zones' })).toBe(1);
  expect(valueOf('chatops_refusals_total', { reason: 'not-admin' })).toBe(1);
});

test('each try of a CDN request and each call of Slack is counted by how it ended', () => {
  const operation = 'List Pull Zones';
  expect(valueOf('chatops_cdn_requests_total', { operation, outcome: 'ok', status: '200' })).toBeGreaterThan(
    0,
  );
  expect(valueOf('chatops_cdn_requests_total', { operation, outcome: 'unavailable', status: '503' })).toBe(1);
  expect(valueOf('chatops_cdn_request_seconds_count', { operation })).toBeGreaterThan(1);
  expect(valueOf('chatops_slack_calls_total', { method: 'response_url', outcome: 'ok' })).toBeGreaterThan(1);
  expect(valueOf('chatops_slack_calls_total', { method: 'views.open', outcome: 'ok' })).toBe(2);
});

test('what the database holds, the pool, the clock and the event loop are in it', () => {
  expect(valueOf('chatops_database_up')).toBe(1);
  expect(valueOf('chatops_queue_depth', { queue: 'deliver-message' })).toBe(0);
  expect(valueOf('chatops_operations', { state: 'unknown' })).toBe(0);
  expect(valueOf('chatops_late', { kind: 'digest' })).toBe(0);
  expect(valueOf('chatops_late', { kind: 'alert' })).toBe(0);
  expect(valueOf('chatops_outbox_oldest_seconds')).toBe(0);
  expect(valueOf('chatops_database_waiting')).toBe(0);
  expect(Math.abs(valueOf('chatops_clock_skew_seconds') ?? 9)).toBeLessThan(5);
  expect(types.has('nodejs_eventloop_lag_p99_seconds')).toBe(true);
  // No connection to count over HTTP.
  expect(valueOf('chatops_slack_connections')).toBeUndefined();
});

test('labels are bounded: no id and no name of a person, channel or zone', () => {
  const own = samples.filter(({ name }) => name.startsWith('chatops_'));
  const labels = new Set(own.flatMap((one) => Object.keys(one.labels)));
  expect([...labels].sort()).toEqual([
    'feature',
    'kind',
    'le',
    'method',
    'operation',
    'outcome',
    'queue',
    'reason',
    'state',
    'status',
    'transport',
    'version',
  ]);
  const ids = features.flatMap(({ commands, actions = [] }) => [
    ...commands.map(({ name }) => name),
    ...actions.map((action) => action.id),
  ]);
  const known = (feature: string): boolean =>
    [...ids, 'home', 'unknown'].some((id) => feature.startsWith(id));
  for (const [label, value] of own.flatMap((one) => Object.entries(one.labels))) {
    expect(value).not.toMatch(/^[UWCDGTE]0?[A-Z0-9]{7,}$/u);
    expect(value).not.toMatch(/shop|alice|\d{5,}/u);
    expect(label !== 'feature' || known(value) || value).toBe(true);
  }
});

const readDoc = (name: string): string =>
  readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const alerts = z
  .object({
    groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
  })
  .transform(({ groups }) => groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)))
  .parse(parse(readDoc('monitoring/alerts.yml')));
const panels = z
  .object({ panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })) })
  .transform((dashboard) => dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)))
  .parse(JSON.parse(readDoc('monitoring/dashboard.json')));

test('every metric and label of the alert rules and the dashboard is in the scrape', () => {
  const missing: string[] = [];
  for (const expr of [...alerts, ...panels]) {
    const names = [...expr.matchAll(/\b(?:chatops|nodejs|process)_\w+/gu)].map(([name]) => name);
    if (names.length === 0) missing.push(`no metric in: ${expr}`);
    const metrics = names.map(metricOf);
    missing.push(...metrics.filter((metric) => !types.has(metric)));
    const matched = [...expr.matchAll(/(\w+)\s*(?:=~|!=|=)\s*"/gu)].map(([, label = '']) => label);
    const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/gu)].flatMap(([, list = '']) => list.split(/,\s*/u));
    const own = samples.filter(({ name }) => metrics.includes(metricOf(name)));
    // A counter without an event has no labels yet.
    if (own.length === 0) continue;
    for (const label of [...matched, ...grouped])
      if (!own.some(({ labels }) => label in labels)) missing.push(`${label} in: ${expr}`);
  }
  expect(missing).toEqual([]);
});

test('docs/monitoring.md has a line for each metric, and for no other', () => {
  const documented = [...readDoc('monitoring.md').matchAll(/^\| `(chatops_\w+)`/gmu)].map(([, name]) => name);
  const own = [...types.keys()].filter((name) => name.startsWith('chatops_'));
  expect(new Set(documented)).toEqual(new Set(own));
});
