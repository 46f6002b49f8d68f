import type { Terminal } from '../../src/cli/terminal.ts';
import { createMemoryLog } from './engines.ts';

/** A terminal for the commands of an operator, and the lines that they print there. */
export function createTerminal(
  env: Readonly<Record<string, string>>,
  now: () => Date = () => new Date(),
): { readonly terminal: Terminal; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  return { lines, terminal: { env, fetch, now, log: createMemoryLog(), print } };
}
