import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AuditRecord, genesisHash, hashRecord, writeRecord } from '../../src/auth/audit/record.ts';
import { acme } from '../auth/audit/tampering.ts';
import { startBotProcess } from '../support/process.ts';
import { createTempDirectory } from '../support/temp-directory.ts';

test('a file many times larger than the memory it may use is checked', async () => {
  const path = join(await createTempDirectory(), 'export.ndjson');
  const detail = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`fact${n}`, 'x'.repeat(1_000)]));
  const at = new Date('2026-11-21T08:00:00.123Z');
  let prevHash = genesisHash;
  for (let piece = 0; piece < 20; piece += 1) {
    const lines: string[] = [];
    for (let n = 1; n <= 500; n += 1) {
      const facts = { tenant: acme, seq: piece * 500 + n, at, actor: 'U1', event: 'policy-changed', detail };
      const record = { ...facts, subject: null, requestId: null, prevHash };
      const whole: AuditRecord = { ...record, hash: hashRecord(record) };
      prevHash = whole.hash;
      lines.push(writeRecord(whole));
    }
    await writeFile(path, `${lines.join('\n')}\n`, { flag: 'a' });
  }
  const env = { NODE_OPTIONS: '--max-old-space-size=48' };
  const command = startBotProcess(env, 'audit', ['verify', '--file', path]);
  expect(await command.exited).toBe(0);
  expect(command.output()).toContain(`whole, 10,000 records, head ${prevHash}`);
}, 60_000);
