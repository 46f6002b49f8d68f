import { type CdnClient, createCdn } from '../api/cdn.ts';
import { ApiError } from '../api/http/errors.ts';
import type { Drift } from '../api/http/request.ts';
import { readCdnConfig } from '../app/config.ts';
import { UserError } from '../errors.ts';
import { hourMs, toUtcDay } from '../lib/time.ts';
import { pluralize } from '../views/blocks/format.ts';
import { type Command, describeUsage, parseWords, readKeyFile } from './terminal.ts';

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
  const [differing, news] = [new Set<string>(), new Set<string>()];
  const onDrift = ({ operation, wrong, missing, unknown }: Drift): void => {
    const parts = [...list('of another type', wrong), ...list('missing', missing)];
    if (parts.length > 0) differing.add(`${operation}: ${parts.join('; ')}`);
    // Members come monthly, and are ignored.
    for (const line of list('not in the specification', unknown)) news.add(`${operation}: ${line}`);
  };
  const cdn = createCdn({ ...readCdnConfig(env), fetch: readOnly(fetch), onDrift }).withKey(key);
  const found = { zone: given.zone, app: given.app };
  let failed = 0;
  for (const [operation, missing, run] of operations(cdn, found, given['shield-zone'], now())) {
    const why = missing();
    if (why) {
      print(`skipped  ${operation}: ${why}`);
      continue;
    }
    const start = performance.now();
    const result = await run().then(
      (came) => `ok       ${operation}: ${came}`,
      (error: unknown) => {
        failed += 1;
        return `FAILED   ${operation}: ${describeFailure(error)}`;
      },
    );
    print(`${result}, ${Math.round(performance.now() - start)} ms`);
  }
  for (const line of differing) print(`differs  ${line}`);
  for (const line of news) print(`note     ${line}`);
  return failed === 0 && differing.size === 0;
};

function list(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${what}: ${[...new Set(names)].join(', ')}`];
}

/** Its name; why it cannot be called, asked once those before have run; what came, in words without a value of the account. */
type Operation = readonly [name: string, missing: () => string | false, run: () => Promise<string>];

function operations(
  cdn: CdnClient,
  found: { zone: string | undefined; app: string | undefined },
  shieldZone: string | undefined,
  now: Date,
): Operation[] {
  const needsShieldZone = () => shieldZone === undefined && 'give --shield-zone';
  return [
    [
      'List Pull Zones',
      needsNothing,
      async () => {
        const { zones, skipped } = await cdn.pullZones.all();
        found.zone ??= zones[0]?.id;
        found.app ??= zones.find(({ appId }) => appId !== undefined)?.appId;
        return `${pluralize(zones.length, 'zone')}${skipped > 0 ? `, ${skipped} unreadable` : ''}`;
      },
    ],
    ['List API Keys', needsNothing, async () => pluralize((await cdn.apiKeys.list()).keys.length, 'key')],
    [
      'Get origin error logs',
      () => found.zone === undefined && 'no pull zone is known; give --zone',
      async () => {
        const day = await cdn.originErrors.forEach(found.zone ?? '', toUtcDay(now), () => undefined);
        return `${pluralize(day.entries, 'entry', 'entries')} today`;
      },
    ],
    [
      'Get Application Usage Summary',
      () => found.app === undefined && 'no pull zone uses an app; give --app',
      async () => pluralize((await cdn.apps.summary(found.app ?? '')).latencyChart.length, 'latency value'),
    ],
    [
      'Get upload scanning metrics',
      needsShieldZone,
      async () => pluralize((await cdn.uploadScanning.metrics(shieldZone ?? '')).days.length, 'day'),
    ],
    [
      'Export Event Logs as CSV',
      needsShieldZone,
      async () => {
        const window = { from: new Date(now.getTime() - hourMs), to: now };
        const { body } = await cdn.eventLogs.export(shieldZone ?? '', window);
        let bytes = 0;
        for await (const chunk of body) bytes += chunk.length;
        return `${pluralize(bytes, 'byte')} of the last hour`;
      },
    ],
  ];
}

const needsNothing = (): false => false;

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

function describeFailure(error: unknown): string {
  if (error instanceof UserError) return error.message;
  if (!(error instanceof ApiError)) throw error;
  const { code, status, requestId, network } = error;
  if (network) return `${network.message} ${network.hint}`;
  const details = [status && `HTTP ${status}`, requestId && `request ${requestId}`].filter(Boolean);
  return details.length > 0 ? `${code} (${details.join(', ')})` : code;
}
