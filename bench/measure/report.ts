/** One line of the report. */
export interface Finding {
  /** What was measured: `acknowledgement, 16 at once`. */
  readonly what: string;
  /** The bot's own reading, with its unit. */
  readonly bot: string;
  /** What was measured in the same run for comparison, with readings. */
  readonly beside: string;
  /** The bot against that: `1.87 × minimal Bolt`. */
  readonly ratio: string;
  /** The goal of the design; empty where there is none. */
  readonly goal: string;
  /** Undefined where there is no goal. */
  readonly met: boolean | undefined;
}

/** Hands a finding of a benchmark, which is a process, to `run.ts` as one line of JSON. */
export function reportFinding(finding: Finding): void {
  process.stdout.write(`${JSON.stringify(finding)}\n`);
}

/** Says on the error stream how far a benchmark is. */
export function logProgress(words: string): void {
  process.stderr.write(`  ${words}\n`);
}

/** The findings as a Markdown table: the ratio, or the reading where nothing was measured beside it. */
export function renderTable(findings: readonly Finding[]): string {
  const head = ['measured', 'ratio or reading', 'goal', 'met'];
  const rows = findings.map(({ what, bot, ratio, goal, met }) => {
    const isMet = met === undefined ? '' : met ? 'yes' : '**no**';
    return [what, ratio || bot, goal, isMet];
  });
  return [head, head.map(() => '---'), ...rows].map((cells) => `|${cells.join('|')}|`).join('\n');
}

/** `1.87 ×` */
export function formatRatio(ratio: number): string {
  return `${ratio.toFixed(2)} ×`;
}

/** Milliseconds with the digits that mean something: `0.41 ms`, `8.3 ms`, `312 ms`. */
export function formatMs(value: number): string {
  return `${value.toFixed(value < 3 ? 2 : value < 30 ? 1 : 0)} ms`;
}

export function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 10e6 ? 1 : 0)} MB`;
}
