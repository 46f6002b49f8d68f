import { summarizeEventLoop } from './metrics.ts';

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
  /** The bot's event loop meanwhile: `p99 3.1 ms, worst 18 ms`. */
  readonly eventLoop?: string | undefined;
  /** The same line with one core for the bot. */
  readonly pinned?: string;
  /** The ratio, or the reading, of the run before. */
  readonly before?: string;
}

/**
 * Hands the findings of a benchmark, a process of its own, to `run.ts`: one line of JSON each. The event loop is the finding's
 * own, or that of the bot at `port`, or of all bots under load.
 */
export function reportFinding(finding: Finding, port?: number): void {
  const { eventLoop = describeEventLoop(port) } = finding;
  process.stdout.write(`${JSON.stringify({ ...finding, eventLoop })}\n`);
}

/** `p99 3.1 ms, worst 18 ms`, since the finding before; undefined where no bot was under load. */
export function describeEventLoop(port?: number): string | undefined {
  const delay = summarizeEventLoop(port);
  return delay && `p99 ${formatMs(delay.p99)}, worst ${formatMs(delay.worst)}`;
}

/** Says on the error stream how far a benchmark is; it never gets into the report. */
export function logProgress(words: string): void {
  process.stderr.write(`  ${words}\n`);
}

/** The findings as a Markdown table, goals beside. */
export function renderTable(findings: readonly Finding[]): string {
  const rows = findings.map(({ what, bot, eventLoop = '', beside, ratio, goal, met, ...other }) => [
    what,
    bot,
    eventLoop,
    beside,
    ratio,
    goal,
    met === undefined ? '' : met ? 'yes' : '**no**',
    other.pinned ?? '',
    other.before ?? '',
  ]);
  const head = [
    'measured',
    'the bot',
    'its event loop',
    'beside it, in the same run',
    'ratio',
    'goal',
    'met',
    'pinned to one core',
    'run before',
  ];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
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
