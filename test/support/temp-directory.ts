import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty directory that is removed after the test that asks for it. */
export async function createTempDirectory(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'chatops-test-'));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}
