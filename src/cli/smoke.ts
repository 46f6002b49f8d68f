import { type CdnClient, createCdn } from '../api/cdn.ts';
import { readCdnConfig } from '../app/config.ts';
import { describeRefusedByCdn } from '../app/doctor/network.ts';
import { createDriftWatch } from '../app/drift.ts';
import { UserError } from '../errors.ts';
import { hourMs, toUtcDay } from '../lib/time.ts';
import { pluralize } from '../views/blocks/format.ts';
import type { Finding } from '../views/doctor.ts';
import { printFindings } from './doctor.ts';
import { type Command, describeUsage, parseWords, readKeyFile } from './terminal.ts';

/**
 * `npm run smoke`: calls the six reading operations with a real key, and prints what differs from the specification in names,
 * never a value. False where one failed, or something specified is missing or of another type. @throws UserError
 */
export const smokeCommand: Command = async (words, { env, fetch, log, now, print }) => {
  const text = { type: 'string' } as const;
  const options = { 'key-file': text, zone: text, app: text, 'shield-zone': text };
  const { 'key-file': keyFile, ...examples } = parseWords('smoke', words, options).values;
  if (keyFile === undefined)
    throw new UserError(
      'Name the file that holds the key: a key in the command line is seen by others.',
      describeUsage('smoke'),
    );
  const key = await readKeyFile(keyFile);
  const drift = createDriftWatch({ log, now, count: () => undefined });
  const cdn = createCdn({
    ...readCdnConfig(env),
    fetch: readOnly(fetch),
    onDrift: (found) => drift.report(found),
  });
  const findings = [...(await checkOperations(cdn.withKey(key), examples, now())), drift.examine()];
  printFindings(findings, print);
  return findings.every(({ state }) => state === 'ok' || state === 'skipped');
};

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

interface Examples {
  zone?: string | undefined;
  app?: string | undefined;
  readonly 'shield-zone'?: string | undefined;
}

const lacking: Readonly<Record<keyof Examples, string>> = {
  zone: 'no pull zone is known; give --zone',
  app: 'no pull zone uses an app; give --app',
  'shield-zone': 'give --shield-zone',
};

type Call = (cdn: CdnClient, id: string, now: Date, examples: Examples) => Promise<string>;

/** The operations that read: what each needs, and what came, without a value of the account. */
const operations: readonly (readonly [name: string, needs: keyof Examples | undefined, call: Call])[] = [
  [
    'List Pull Zones',
    undefined,
    async (cdn, _id, _now, examples) => {
      const { zones, skipped } = await cdn.pullZones.all();
      examples.zone ??= zones[0]?.id;
      examples.app ??= zones.find(({ appId }) => appId !== undefined)?.appId;
      return `${pluralize(zones.length, 'zone')}${skipped > 0 ? `, ${skipped} unreadable` : ''}`;
    },
  ],
  ['List API Keys', undefined, async (cdn) => pluralize((await cdn.apiKeys.list()).keys.length, 'key')],
  [
    'Get origin error logs',
    'zone',
    async (cdn, id, now) => {
      const day = await cdn.originErrors.forEach(id, toUtcDay(now), () => undefined);
      return `${pluralize(day.entries, 'entry', 'entries')} today`;
    },
  ],
  [
    'Get Application Usage Summary',
    'app',
    async (cdn, id) => pluralize((await cdn.apps.summary(id)).latencyChart.length, 'latency value'),
  ],
  [
    'Get upload scanning metrics',
    'shield-zone',
    async (cdn, id) => pluralize((await cdn.uploadScanning.metrics(id)).days.length, 'day'),
  ],
  [
    'Export Event Logs as CSV',
    'shield-zone',
    async (cdn, id, now) => {
      const { body } = await cdn.eventLogs.export(id, { from: new Date(now.getTime() - hourMs), to: now });
      let bytes = 0;
      for await (const chunk of body) bytes += chunk.length;
      return `${pluralize(bytes, 'byte')} of the last hour`;
    },
  ],
];

async function checkOperations(cdn: CdnClient, examples: Examples, now: Date): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [check, needs, call] of operations) {
    const id = needs && examples[needs];
    if (needs && id === undefined) {
      findings.push({ check, state: 'skipped', says: lacking[needs] });
      continue;
    }
    const start = performance.now();
    const ms = (): number => Math.round(performance.now() - start);
    const found = await call(cdn, id ?? '', now, examples).then(
      (came) => ({ state: 'ok', says: `${came}, ${ms()} ms` }) as const,
      (error: unknown) => describeRefusedByCdn(error),
    );
    findings.push({ check, ...found });
  }
  return findings;
}
