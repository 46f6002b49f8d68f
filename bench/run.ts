import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { type Finding, renderTable } from './measure/report.ts';

// npm run bench                 everything
// npm run bench -- start export some of it
// npm run bench -- --write      also stores the findings in bench/last-run.json and the table in docs/performance.md
const benches = [
  'http-acknowledgement',
  'overload',
  'answers',
  'busy',
  'socket-acknowledgement',
  'zones-first-answer',
  'lists',
  'export',
  'start',
  'assistant',
  'memory',
] as const;
const lastRunFile = new URL('last-run.json', import.meta.url);
const document = 'docs/performance.md';
const markers = ['<!-- bench:begin -->', '<!-- bench:end -->'] as const;

/** What each benchmark last found, by its name. */
type LastRun = Readonly<Record<string, { readonly at: string; readonly findings: readonly Finding[] }>>;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
});
const unknown = positionals.filter((name) => !benches.some((bench) => bench === name));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. Choose from: ${benches.join(', ')}`);
  process.exit(1);
}

const today = new Date().toISOString().slice(0, 10);
const found: Record<string, LastRun[string]> = {};
for (const bench of benches) {
  if (positionals.length > 0 && !positionals.includes(bench)) continue;
  console.error(bench);
  found[bench] = { at: today, findings: await run(bench) };
  // Stored at once, in case a later benchmark fails.
  if (values.write) await store(found);
}
console.log(report(found));

/** Each benchmark is a process, so that none of them measures the heap that another one left. */
async function run(bench: string): Promise<Finding[]> {
  const child = spawn(process.execPath, [`bench/${bench}.ts`], { stdio: ['ignore', 'pipe', 'inherit'] });
  const findings: Finding[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => findings.push(JSON.parse(line) as Finding));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${bench} failed`);
  return findings;
}

async function store(runs: LastRun): Promise<void> {
  const before = JSON.parse(await readFile(lastRunFile, 'utf8')) as LastRun;
  const stored = { ...before, ...runs };
  await writeFile(lastRunFile, `${JSON.stringify(stored, null, 2)}\n`);
  const text = await readFile(document, 'utf8');
  const [begin, end] = [text.indexOf(markers[0]), text.indexOf(markers[1])];
  if (begin < 0 || end < begin) throw new Error(`${document} has lost the marks ${markers.join(' and ')}`);
  const head = text.slice(0, begin + markers[0].length);
  await writeFile(document, `${head}\n${report(stored)}\n${text.slice(end)}`);
}

function report(runs: LastRun): string {
  const dates = benches.flatMap((bench) => runs[bench]?.at ?? []).toSorted();
  const findings = benches.flatMap((bench) => runs[bench]?.findings ?? []);
  const goals = findings.filter(({ met }) => met !== undefined);
  const when = dates[0] === dates.at(-1) ? `on ${dates[0]}` : `between ${dates[0]} and ${dates.at(-1)}`;
  const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} shared cores`;
  const count = `${goals.filter(({ met }) => met).length} of ${goals.length} goals are met`;
  return `${machine}, measured ${when}. ${count}.\n\n${renderTable(findings)}`;
}
