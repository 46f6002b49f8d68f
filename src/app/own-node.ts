import { execFileSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };

/** A process as it was started. */
interface Started {
  readonly execPath: string;
  readonly path: string | undefined;
}

/**
 * The first Node in PATH that is new enough for the bot, if this process runs on the one that came with the packages:
 * npm puts that first in PATH, and it is for trying. Else undefined.
 */
export function findOwnNode({ execPath, path = '' }: Started): string | undefined {
  if (!isPackaged(execPath)) return undefined;
  return path
    .split(delimiter)
    .filter((directory) => directory !== '' && !isPackaged(join(directory, 'node')))
    .map((directory) => join(directory, 'node'))
    .find(isNewEnough);
}

function isPackaged(file: string): boolean {
  return /[/\\]node_modules[/\\]/u.test(file);
}

function isNewEnough(node: string): boolean {
  try {
    const version = execFileSync(node, ['--version'], { encoding: 'utf8', stdio: 'pipe', timeout: 2_000 });
    return compare(readNumbers(version), readNumbers(manifest.engines.node)) >= 0;
  } catch {
    // There is none in that directory.
    return false;
  }
}

function readNumbers(version: string): [major: number, minor: number] {
  const [major = 0, minor = 0] = (version.match(/\d+/gu) ?? []).map(Number);
  return [major, minor];
}

function compare([major, minor]: [number, number], [otherMajor, otherMinor]: [number, number]): number {
  return major - otherMajor || minor - otherMinor;
}
