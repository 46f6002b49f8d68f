import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import {
  addBefore,
  type LastRun,
  type Mode,
  mergeModes,
  readLastRun,
  storeRun,
  summarize,
} from './measure/last-run.ts';
import { type Finding, renderTable } from './measure/report.ts';

// npm run bench                      everything
// npm run bench -- start at-rest     some of it
// npm run bench -- export --only 200 one of the sizes of a benchmark that has several, in MB
// npm run bench -- --pinned          one core for what is measured, the others for the load
// npm run bench -- --write           also keeps the findings in bench/last-run.json and the table in docs/performance.md
// npm run bench -- --before <path>   this checkout beside another one, in one run
const benches = [
  'http-acknowledgement',
  'answers',
  'socket-acknowledgement',
  'zones-first-answer',
  'zones-whole-list',
  'pickers',
  'origin-errors',
  'export',
  'digests',
  'watches',
  'slow-upstream',
  'replicas',
  'soak',
  'scale',
  'start',
  'at-rest',
  'memory',
  'roles',
] as const;
const document = 'docs/performance.md';
const markers = ['<!-- bench:begin -->', '<!-- bench:end -->'] as const;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    write: { type: 'boolean', default: false },
    pinned: { type: 'boolean', default: false },
    only: { type: 'string' },
    before: { type: 'string' },
  },
});
const unknown = positionals.filter((name) => !benches.some((bench) => bench === name));
if (unknown.length > 0) stop(`There is no ${unknown.join(', ')}. Choose from: ${benches.join(', ')}`);
if (values.write && (values.only ?? values.before) !== undefined)
  stop('--write puts down whole benchmarks: leave --only and --before out.');
const cores = availableParallelism();
if (values.pinned && (cores < 2 || spawnSync('taskset', ['--version']).error))
  stop('--pinned wants taskset and two cores.');

const mode: Mode = values.pinned ? 'pinned' : 'free';
const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${cores} cores shared with other work.`;
const chosen = benches.filter((bench) => positionals.length === 0 || positionals.includes(bench));
const last = await readLastRun();
const findings: Finding[] = [];
for (const bench of values.before === undefined ? chosen : ['before-after']) {
  console.error(bench);
  const found = addBefore(await run(bench, values.before ?? values.only), last[mode][bench]);
  findings.push(...found);
  // Kept at once, in case a later benchmark fails.
  if (values.write) await writeTable(await storeRun(mode, bench, found));
}
console.log(report(findings, [new Date().toISOString().slice(0, 10)]));

function report(found: readonly Finding[], dates: readonly string[]): string {
  return `${machine} ${summarize(found, dates)}\n\n${renderTable(found)}`;
}

async function writeTable(stored: LastRun): Promise<void> {
  const text = await readFile(document, 'utf8');
  const [begin, end] = [text.indexOf(markers[0]), text.indexOf(markers[1])];
  if (begin < 0 || end < begin) throw new Error(`${document} has lost the marks ${markers.join(' and ')}`);
  const before = text.slice(0, begin + markers[0].length);
  const dates = Object.values(stored.free).map(({ at }) => at);
  const table = report(mergeModes(stored, benches), dates);
  await writeFile(document, `${before}\n${table}\n${text.slice(end)}`);
}

/**
 * Each benchmark is a process of its own: none of them measures the heap that another one left. Pinned, it starts what it
 * measures on the first core, and everything else runs on the others.
 */
async function run(bench: string, option: string | undefined): Promise<Finding[]> {
  const args = [process.execPath, `bench/${bench}.ts`, ...(option === undefined ? [] : [option])];
  const [command = '', ...rest] = values.pinned ? ['taskset', '-c', `1-${cores - 1}`, ...args] : args;
  const child = spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...(values.pinned ? { BENCH_CORE: '0' } : {}) },
  });
  const findings: Finding[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => findings.push(JSON.parse(line) as Finding));
  const [code] = (await once(child, 'close')) as [number | null];
  // One that has missed its bound still has its findings.
  if (code !== 0 && findings.length === 0) throw new Error(`${bench} failed`);
  if (code !== 0) process.exitCode = 1;
  return findings;
}

function stop(why: string): never {
  console.error(why);
  process.exit(1);
}
