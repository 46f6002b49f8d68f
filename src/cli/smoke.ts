import { type CdnClient, createCdn } from '../api/cdn.ts';
import { ApiError } from '../api/http/errors.ts';
import type { Drift } from '../api/http/request.ts';
import { readCdnConfig } from '../app/config.ts';
import { UserError } from '../errors.ts';
import { hourMs, toUtcDay } from '../lib/time.ts';
import { pluralize } from '../views/blocks/format.ts';
import { readKeyFile } from './key-file.ts';
import { type Command, describeUsage, parseWords } from './words.ts';

/**
 * `npm run smoke`: calls the six reading operations with a real key and prints what came, how long it took and what differs
 * from the specification: counts and member names, never a value. A request that writes is not sent. False where an
 * operation failed, or something specified is missing or of another type. @throws UserError where it cannot begin.
 */
export const smokeCommand: Command = async (words, { env, fetch, now, print }) => {
  const text = { type: 'string' } as const;
  const given = parseWords('smoke', words, {
    'key-file': text,
    zone: text,
    app: text,
    'shield-zone': text,
  }).values;
  if (given['key-file'] === undefined)
    throw new UserError(
      'Name the file that holds the key: a key in the command line is seen by others.',
      describeUsage('smoke'),
    );
  const key = await readKeyFile(given['key-file']);
  const drifts: Drift[] = [];
  const cdn = createCdn({
    ...readCdnConfig(env),
    fetch: readOnly(fetch),
    onDrift: (drift) => drifts.push(drift),
  }).withKey(key);
  const found = { zone: given.zone, app: given.app };
  let failed = 0;
  for (const { operation, missing, run } of operations(cdn, found, given['shield-zone'], now())) {
    const why = missing?.();
    if (why) {
      print(`skipped  ${operation}: ${why}`);
      continue;
    }
    const start = performance.now();
    const result = await run().catch((error: unknown) => describeFailure(error));
    const ms = `${Math.round(performance.now() - start)} ms`;
    if (typeof result === 'string') print(`ok       ${operation}: ${result}, ${ms}`);
    else {
      failed += 1;
      print(`FAILED   ${operation}: ${result.failure}, ${ms}`);
    }
  }
  const differing = drifts.flatMap(describeDifferences);
  for (const line of new Set(differing)) print(`differs  ${line}`);
  // Members come monthly, and are ignored.
  for (const line of new Set(drifts.flatMap(describeNews))) print(`note     ${line}`);
  return failed === 0 && differing.length === 0;
};

interface Operation {
  readonly operation: string;
  /** Why it cannot be called, asked once the operations before have run. */
  readonly missing?: () => string | false;
  /** What came, in words without a value of the account. */
  readonly run: () => Promise<string>;
}

function operations(
  cdn: CdnClient,
  found: { zone: string | undefined; app: string | undefined },
  shieldZone: string | undefined,
  now: Date,
): Operation[] {
  const needsShieldZone = () => shieldZone === undefined && 'give --shield-zone';
  return [
    {
      operation: 'List Pull Zones',
      async run() {
        const { zones, skipped } = await cdn.pullZones.all();
        found.zone ??= zones[0]?.id;
        found.app ??= zones.find(({ appId }) => appId !== undefined)?.appId;
        return `${pluralize(zones.length, 'zone')}${skipped > 0 ? `, ${skipped} unreadable` : ''}`;
      },
    },
    {
      operation: 'List API Keys',
      async run() {
        const { keys } = await cdn.apiKeys.list();
        return pluralize(keys.length, 'key');
      },
    },
    {
      operation: 'Get origin error logs',
      missing: () => found.zone === undefined && 'no pull zone is known; give --zone',
      async run() {
        const day = await cdn.originErrors.forEach(found.zone ?? '', toUtcDay(now), () => undefined);
        return `${pluralize(day.entries, 'entry', 'entries')} today`;
      },
    },
    {
      operation: 'Get Application Usage Summary',
      missing: () => found.app === undefined && 'no pull zone uses an app; give --app',
      async run() {
        const { latencyChart } = await cdn.apps.summary(found.app ?? '');
        return pluralize(latencyChart.length, 'latency value');
      },
    },
    {
      operation: 'Get upload scanning metrics',
      missing: needsShieldZone,
      async run() {
        const { days } = await cdn.uploadScanning.metrics(shieldZone ?? '');
        return pluralize(days.length, 'day');
      },
    },
    {
      operation: 'Export Event Logs as CSV',
      missing: needsShieldZone,
      async run() {
        const window = { from: new Date(now.getTime() - hourMs), to: now };
        const { body } = await cdn.eventLogs.export(shieldZone ?? '', window);
        let bytes = 0;
        for await (const chunk of body) bytes += chunk.length;
        return `${pluralize(bytes, 'byte')} of the last hour`;
      },
    },
  ];
}

/** Refuses everything that could write, whatever asks for it. The one POST that reads is the export of event logs. */
function readOnly(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => {
    const request = new Request(input, init);
    const isExport =
      request.method === 'POST' && /\/shield\/event-logs\/\d+\/export$/u.test(new URL(request.url).pathname);
    if (request.method !== 'GET' && !isExport) throw new Error('the smoke run sends nothing that writes');
    return fetch(request);
  };
}

function describeFailure(error: unknown): { readonly failure: string } {
  if (error instanceof UserError) return { failure: error.message };
  if (!(error instanceof ApiError)) throw error;
  const { code, status, requestId, network } = error;
  if (network) return { failure: `${network.message} ${network.hint}` };
  const details = [status && `HTTP ${status}`, requestId && `request ${requestId}`]
    .filter(Boolean)
    .join(', ');
  return { failure: details ? `${code} (${details})` : code };
}

function describeDifferences({ operation, wrong, missing }: Drift): string[] {
  const parts = [
    wrong.length > 0 && `of another type: ${listOnce(wrong)}`,
    missing.length > 0 && `missing: ${listOnce(missing)}`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? [] : [`${operation}: ${parts.join('; ')}`];
}

function describeNews({ operation, unknown }: Drift): string[] {
  return unknown.length === 0 ? [] : [`${operation}: not in the specification: ${listOnce(unknown)}`];
}

function listOnce(names: readonly string[]): string {
  return [...new Set(names)].join(', ');
}
