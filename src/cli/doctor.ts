import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, readConfig } from '../app/config.ts';
import { describeRefusal, runChecks } from '../app/doctor/checks.ts';
import type { Subject } from '../app/doctor/network.ts';
import { findWorkspace } from '../app/doctor/slack.ts';
import { createDriftWatch } from '../app/drift.ts';
import { openInstallations } from '../app/keyring-service.ts';
import { UserError } from '../errors.ts';
import { createNativeSupport } from '../slack/send/native-blocks.ts';
import { findSchemaState, openDatabase } from '../store/database.ts';
import type { Log } from '../telemetry/log.ts';
import { pluralize } from '../views/blocks/format.ts';
import type { Finding } from '../views/doctor.ts';
import { type Command, parseWords, readKeyFile, type Terminal } from './terminal.ts';

/** `npm run doctor`. `--probe` posts a chart and a table to a person and takes them back. @throws UserError */
export const doctorCommand: Command = async (words, terminal) => {
  const {
    json,
    probe,
    team,
    'key-file': keyFile,
  } = parseWords('doctor', words, {
    json: { type: 'boolean', default: false },
    'key-file': { type: 'string' },
    probe: { type: 'string' },
    team: { type: 'string' },
  }).values;
  const { env, fetch, log, now, print } = terminal;
  const config = readConfig(env);
  const isOAuth = config.slack.installing.kind === 'oauth';
  if (!isOAuth && team !== undefined)
    throw new UserError('--team is for a bot that serves many workspaces.', 'Leave it out.');
  if (isOAuth && probe !== undefined && team === undefined)
    throw new UserError('--probe needs the workspace of that person.', 'Add --team <workspace id>.');
  const key = keyFile === undefined ? undefined : await readKeyFile(keyFile);
  const opened = await openStore(config, log);
  const { database } = opened;
  try {
    // Tables of another version are not read.
    const current =
      database && (await findSchemaState(database.db).catch(() => 'newer')) === 'current'
        ? database
        : undefined;
    const installations =
      current && isOAuth ? await openInstallations(current, config, now).catch(() => undefined) : undefined;
    const findings = await runChecks('terminal', {
      ...opened,
      config,
      fetch,
      now,
      slackFetch: fetch,
      findWorkspace: () => findWorkspace({ config, now, database: current, installations, team }),
      support: createNativeSupport({ now }),
      ...(key ? { drift: createDriftWatch({ log, now, count: () => undefined }) } : {}),
      probe,
      key,
    });
    if (json) print(JSON.stringify(findings, undefined, 2));
    else {
      for (const [at, finding] of findings.entries()) printFinding(finding, findings[at + 1]?.fix, print);
      const failed = findings.filter(({ state }) => state === 'failed').length;
      print(`${pluralize(findings.length, 'check')}, ${failed} failed.`);
    }
    return findings.every(({ state }) => state !== 'failed');
  } finally {
    await database?.close();
  }
};

/** What mends the next one too, such as a pasted manifest, is printed there. */
function printFinding(
  { check, state, says, fix }: Finding,
  nextFix: string | undefined,
  print: Terminal['print'],
): void {
  print(`${state.padEnd(8)} ${check}: ${says}`);
  if (fix !== undefined && fix !== nextFix && state !== 'ok') print(`         → ${fix}`);
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
