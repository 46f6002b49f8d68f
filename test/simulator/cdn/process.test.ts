import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';

test('started as a process it prints where it is and how to get in, serves, and stops when told', async () => {
  const entry = new URL('../../../simulator/cdn/process.ts', import.meta.url);
  const child = spawn(process.execPath, [entry.pathname, '--zones', '7', '--origin-errors', '3'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const where = JSON.parse(line) as Record<'url' | 'originLoggingUrl' | 'key' | 'restrictedKey', string>;
    const ask = async (address: string) =>
      (await fetch(address, { headers: { AccessKey: where.key } })).json();
    expect(await ask(`${where.url}/pullzone`)).toHaveLength(7);
    const yesterday = new Date(Date.now() - 86_400_000).toISOString();
    const date = `${yesterday.slice(5, 7)}-${yesterday.slice(8, 10)}-${yesterday.slice(0, 4)}`;
    expect(await ask(`${where.originLoggingUrl}/1001/${date}`)).toMatchObject({ logs: [{}, {}, {}] });
  } finally {
    child.kill('SIGTERM');
  }
  expect(await once(child, 'exit')).toEqual([0, null]);
});
