import { setTimeout } from 'node:timers/promises';
import { createCdn } from '../../api/cdn.ts';
import type { Finding } from '../../views/doctor.ts';
import { checkAddresses, checkHosts, checkKey } from './network.ts';
import { checkAppToken, checkClock, checkConnections, checkManifest, checkWorkspace } from './slack.ts';
import { checkDatabase, checkKeyring, checkRoom } from './stores.ts';
import type { Subject } from './subject.ts';

/** Who asks: a start, `/readyz`, `npm run doctor`, `/cdn doctor`. */
type Asker = 'start' | 'ready' | 'terminal' | 'command';

interface Check {
  readonly askers: readonly Asker[];
  /** Where the bot serves many workspaces, not for those who ask in one of them. */
  readonly isOperators?: boolean;
  readonly run: (subject: Subject) => Promise<readonly Finding[]> | readonly Finding[];
}

/** Everything that the bot needs, in the order in which it is told. */
const checks: readonly Check[] = [
  { askers: ['terminal', 'command'], isOperators: true, run: checkRoom },
  { askers: ['start', 'ready'], run: checkStores },
  { askers: ['terminal', 'command'], isOperators: true, run: checkDatabase },
  { askers: ['terminal', 'command'], isOperators: true, run: checkKeyring },
  { askers: ['ready', 'terminal', 'command'], run: checkClock },
  { askers: ['ready', 'command'], run: checkConnections },
  { askers: ['terminal', 'command'], run: checkAppToken },
  { askers: ['start'], run: async ({ running }) => (await running?.verifyToken(), []) },
  { askers: ['terminal', 'command'], run: checkWorkspaces },
  { askers: ['terminal', 'command'], isOperators: true, run: checkManifest },
  { askers: ['terminal', 'command'], isOperators: true, run: checkAddresses },
  { askers: ['terminal', 'command'], run: checkHosts },
  { askers: ['terminal', 'command'], run: checkAnswers },
];

export async function runChecks(asker: Asker, subject: Subject): Promise<Finding[]> {
  const isShared = asker === 'command' && subject.config.slack.installing.kind === 'oauth';
  const chosen = checks.filter(
    ({ askers, isOperators }) => askers.includes(asker) && !(isShared && isOperators),
  );
  return (await Promise.all(chosen.map(async ({ run }) => run(subject)))).flat();
}

async function checkWorkspaces(subject: Subject): Promise<Finding[]> {
  const { found, workspaces } = (await subject.findWorkspaces?.()) ?? { found: [], workspaces: [] };
  const each = await Promise.all(workspaces.map((workspace) => checkWorkspace(workspace, subject)));
  return [...found, ...each.flat()];
}

/** Answers that differ from the specification are known to the running bot, or seen with a key. */
async function checkAnswers({ config, fetch, key, drift }: Subject): Promise<Finding[]> {
  if (!drift) {
    const says = 'without a key only the running bot sees them: ask /cdn doctor, or add --key-file';
    return [{ check: 'cdn answers', state: 'skipped', says }];
  }
  const cdn = createCdn({ ...config.cdn, fetch, onDrift: drift.report });
  const found = key ? [await checkKey(cdn, key, config.panel.keys)] : [];
  return [...found, drift.examine()];
}

const lateMs = 2_000;

async function checkStores({ running }: Subject): Promise<Finding[]> {
  const late = setTimeout(lateMs, `the database has not answered for ${lateMs / 1000} s`, { ref: false });
  const problem = await Promise.race([running?.findStoreProblem(), late]);
  return problem === undefined ? [] : [{ check: 'database', state: 'failed', says: problem }];
}

/** Probes, and strangers on a public port, cost one look a second. */
const keptMs = 1_000;

/** Looks whether the running bot can serve. The returned function resolves with the reasons why not, in words. */
export function createReadiness(subject: Subject): () => Promise<string[]> {
  let latest: { readonly reasons: Promise<string[]>; readonly askedAt: number } | undefined;
  const look = async (): Promise<string[]> =>
    (await runChecks('ready', subject)).flatMap(({ state, says }) => (state === 'failed' ? [says] : []));
  return () => {
    if (!latest || performance.now() - latest.askedAt > keptMs)
      latest = { reasons: look(), askedAt: performance.now() };
    return latest.reasons;
  };
}
