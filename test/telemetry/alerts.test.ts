import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const promtool = (...args: string[]) => spawnSync('promtool', args, { encoding: 'utf8' });
const isThere = promtool('--version').error === undefined;
const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

// Debian's package `prometheus` has it.
test.skipIf(!isThere)('the alert rules are valid and fire when they should', () => {
  for (const run of [
    promtool('check', 'rules', pathOf('../../docs/monitoring/alerts.yml')),
    promtool('test', 'rules', pathOf('alerts.promtool.yml')),
  ])
    expect({ status: run.status, says: run.stdout + run.stderr }).toMatchObject({ status: 0 });
});
