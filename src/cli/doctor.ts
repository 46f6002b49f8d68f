import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, readConfig } from '../app/config.ts';
import { describeRefusal, runChecks } from '../app/doctor/checks.ts';
import { findChannels, type Subject } from '../app/doctor/network.ts';
import { createDriftWatch } from '../app/drift.ts';
import { findSchemaState, openDatabase } from '../store/database.ts';
import type { Log } from '../telemetry/log.ts';
import { pluralize } from '../views/blocks/format.ts';
import type { Finding } from '../views/doctor.ts';
import { type Command, parseWords, readKeyFile, type Terminal } from './terminal.ts';

/** `npm run doctor`. @throws UserError */
export const doctorCommand: Command = async (words, terminal) => {
  const { json, 'key-file': keyFile } = parseWords('doctor', words, {
    json: { type: 'boolean', default: false },
    'key-file': { type: 'string' },
  }).values;
  const { env, fetch, log, now, print } = terminal;
  const config = readConfig(env);
  const { installing } = config.slack;
  const key = keyFile === undefined ? undefined : await readKeyFile(keyFile);
  const opened = await openStore(config, log);
  const { database } = opened;
  try {
    // Tables of another version are not read.
    const current =
      database && (await findSchemaState(database.db).catch(() => 'newer')) === 'current'
        ? database
        : undefined;
    const channels = current ? await findChannels(current) : [];
    const findings = await runChecks('terminal', {
      ...opened,
      config,
      fetch,
      now,
      slackFetch: fetch,
      workspace: installing.kind === 'single' ? { token: installing.botToken, channels } : undefined,
      ...(key ? { drift: createDriftWatch({ log, now, count: () => undefined }) } : {}),
      key,
    });
    const failed = findings.filter(({ state }) => state === 'failed').length;
    if (json) print(JSON.stringify(findings, undefined, 2));
    else {
      printFindings(findings, print);
      print(`${pluralize(findings.length, 'check')}, ${failed} failed.`);
    }
    return failed === 0;
  } finally {
    await database?.close();
  }
};

/** What mends the next one too, such as a pasted manifest, is printed there. */
export function printFindings(findings: readonly Finding[], print: Terminal['print']): void {
  for (const [at, { check, state, says, fix }] of findings.entries()) {
    print(`${state.padEnd(8)} ${check}: ${says}`);
    if (fix !== undefined && fix !== findings[at + 1]?.fix && state !== 'ok') print(`         → ${fix}`);
  }
}

async function openStore(config: Config, log: Log): Promise<Pick<Subject, 'database' | 'closed'>> {
  const { databaseUrl, dataDir } = config.store;
  const check = 'database';
  if (!databaseUrl && !existsSync(join(dataDir, 'database'))) {
    const says = `none in ${dataDir} yet; the first start makes it`;
    return { database: undefined, closed: { check, state: 'ok', says } };
  }
  try {
    return { database: await openDatabase({ ...config.store, log }) };
  } catch (error) {
    const closed = describeRefusal(check, error);
    if (databaseUrl) return { database: undefined, closed };
    // The embedded database serves one process.
    const fix = 'Ask /cdn doctor in Slack, or stop the bot first.';
    return { database: undefined, closed: { ...closed, state: 'skipped', fix } };
  }
}
