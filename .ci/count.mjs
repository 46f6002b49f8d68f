// Prints the sum of the test runner's JSON reports, the last line of CI. Usage: count.mjs <report>...
import { readFileSync } from 'node:fs';

const reports = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')));
const sum = (count) => reports.reduce((total, report) => total + report[count], 0);
const skipped = sum('numPendingTests') + sum('numTodoTests');
const counts = `${sum('numPassedTests')} passed, ${sum('numFailedTests')} failed`;
console.log(skipped > 0 ? `${counts}, ${skipped} skipped` : counts);
if (!reports.every(({ success }) => success)) process.exitCode = 1;
