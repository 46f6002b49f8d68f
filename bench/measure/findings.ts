/** One line of the report. */
export interface Finding {
  /** What was measured: `acknowledgement, 16 at once`. */
  readonly what: string;
  /** The bot's own reading, with its unit. */
  readonly bot: string;
  /** What was measured beside it, with readings. */
  readonly beside: string;
  /** The bot against that: `1.87 × minimal Bolt`. */
  readonly ratio: string;
  /** What DESIGN wants; empty where it wants nothing. */
  readonly goal: string;
  /** Undefined where there is no goal. */
  readonly met: boolean | undefined;
}

/** Hands the findings of a benchmark, a process of its own, to `run.ts`: one line of JSON each. */
export function found(finding: Finding): void {
  process.stdout.write(`${JSON.stringify(finding)}\n`);
}

/** Says on the error stream how far a benchmark is; it never gets into the report. */
export function progress(words: string): void {
  process.stderr.write(`  ${words}\n`);
}
