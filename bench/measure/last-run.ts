import { readFile, writeFile } from 'node:fs/promises';
import type { Finding } from './report.ts';

/** `pinned`: the programs under measurement had one core for themselves, the load the others. */
export type Mode = 'free' | 'pinned';

/** What each benchmark last found, by its name. */
export type LastRun = Readonly<Record<Mode, Readonly<Record<string, Run>>>>;

interface Run {
  /** `2026-11-23` */
  readonly at: string;
  readonly findings: readonly Finding[];
}

const file = new URL('../last-run.json', import.meta.url);

export async function readLastRun(): Promise<LastRun> {
  return JSON.parse(await readFile(file, 'utf8')) as LastRun;
}

/** Puts what one benchmark has found in the place of what it found before. */
export async function storeRun(mode: Mode, bench: string, findings: readonly Finding[]): Promise<LastRun> {
  const last = await readLastRun();
  const run: Run = { at: new Date().toISOString().slice(0, 10), findings };
  const stored = { ...last, [mode]: { ...last[mode], [bench]: run } };
  await writeFile(file, `${JSON.stringify(stored, null, 2)}\n`);
  return stored;
}

/** The findings, each with what the run before says of the same line. */
export function addBefore(findings: readonly Finding[], before: Run | undefined): Finding[] {
  return findings.map((finding) => {
    const same = before?.findings.find(({ what }) => what === finding.what);
    return same
      ? { ...finding, before: `${shorten(same)}${same.met === false ? ' (missed)' : ''}` }
      : finding;
  });
}

/** One table of all that was stored: free, and beside it the same lines pinned. */
export function mergeModes({ free, pinned }: LastRun, order: readonly string[]): Finding[] {
  return order.flatMap((bench) => {
    const beside = pinned[bench]?.findings ?? [];
    return (free[bench]?.findings ?? []).map((finding) => {
      const same = beside.find(({ what }) => what === finding.what);
      if (!same) return finding;
      const words = [shorten(same), same.eventLoop && `event loop ${same.eventLoop}`]
        .filter(Boolean)
        .join('; ');
      return { ...finding, pinned: words };
    });
  });
}

/** `Measured on 2026-11-23. 31 of 45 goals are met; of the 44 lines that the run before has, 29 were and 30 are.` */
export function summarize(findings: readonly Finding[], dates: readonly string[]): string {
  const goals = findings.filter(({ met }) => met !== undefined);
  const known = goals.filter(({ before }) => before !== undefined);
  const [first, last] = [dates.toSorted()[0] ?? '', dates.toSorted().at(-1) ?? ''];
  const when = first === last ? `on ${first}` : `between ${first} and ${last}`;
  const compared =
    known.length === 0
      ? 'there is no run before'
      : `of the ${known.length} that the run before has too, ${known.filter(({ before }) => !before?.endsWith('(missed)')).length} were and ${countMet(known)} are`;
  return `Measured ${when}. ${countMet(goals)} of ${goals.length} goals are met; ${compared}.`;
}

function countMet(findings: readonly Finding[]): number {
  return findings.filter(({ met }) => met).length;
}

function shorten({ ratio, bot }: Finding): string {
  return (ratio || bot).split(', ', 1)[0] ?? '';
}
