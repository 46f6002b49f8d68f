import { writeFileSync } from 'node:fs';

// node bench/measure/within.ts <cgroup.procs> <arguments of Node>: joins a control group, then becomes that program, so that
// all of its memory is counted there.
const [procs = '', ...args] = process.argv.slice(2);
writeFileSync(procs, String(process.pid));
if (!process.execve) throw new Error('this system cannot replace a process');
process.execve(process.execPath, [process.execPath, ...args], process.env);
