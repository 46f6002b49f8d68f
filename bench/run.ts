import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { type Finding, renderTable } from './measure/report.ts';

// npm run bench                      everything
// npm run bench -- start at-rest     some of it
// npm run bench -- export --only 200 one of the sizes of a benchmark that has several, in MB
// npm run bench -- --write           also puts the table into docs/performance.md
// npm run bench -- --before <path>   this checkout beside another one, in one run
const benches = [
  'http-acknowledgement',
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
] as const;
const document = 'docs/performance.md';
const markers = ['<!-- bench:begin -->', '<!-- bench:end -->'] as const;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    write: { type: 'boolean', default: false },
    only: { type: 'string' },
    before: { type: 'string' },
  },
});
const unknown = positionals.filter((name) => !benches.some((bench) => bench === name));
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')}. Choose from: ${benches.join(', ')}`);
  process.exit(1);
}
if (values.write && (positionals.length > 0 || (values.only ?? values.before) !== undefined)) {
  console.error('--write puts down a whole run: leave the names, --only and --before out.');
  process.exit(1);
}

const chosen = benches.filter((bench) => positionals.length === 0 || positionals.includes(bench));
const findings: Finding[] = [];
for (const bench of values.before === undefined ? chosen : ['before-after']) {
  console.error(bench);
  findings.push(...(await run(bench, values.before ?? values.only)));
}
const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores shared with other work.`;
const report = `${machine}\n\n${renderTable(findings)}`;
console.log(report);
if (values.write) {
  const text = await readFile(document, 'utf8');
  const [begin, end] = [text.indexOf(markers[0]), text.indexOf(markers[1])];
  if (begin < 0 || end < begin) throw new Error(`${document} has lost the marks ${markers.join(' and ')}`);
  const before = text.slice(0, begin + markers[0].length);
  await writeFile(document, `${before}\n${report}\n${text.slice(end)}`);
}

/** Each benchmark is a process of its own: none of them measures the heap that another one left. */
async function run(bench: string, option: string | undefined): Promise<Finding[]> {
  const args = [`bench/${bench}.ts`, ...(option === undefined ? [] : [option])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const findings: Finding[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => findings.push(JSON.parse(line) as Finding));
  const [code] = (await once(child, 'close')) as [number | null];
  // One that has missed its bound still has its findings.
  if (code !== 0 && findings.length === 0) throw new Error(`${bench} failed`);
  if (code !== 0) process.exitCode = 1;
  return findings;
}
