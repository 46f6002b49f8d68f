import { setTimeout } from 'node:timers/promises';
import type { SlackClock } from '../clock.ts';

interface ReadinessOptions {
  /** Reads and opens a sealed row: the problem in words, or undefined. Rejects if the database does. */
  readonly findStoreProblem: () => Promise<string | undefined>;
  /** Connections with a recent frame; undefined where deliveries come another way. */
  readonly slackConnections: () => number | undefined;
  /** Undefined for a process that answers no deliveries. */
  readonly clock: Pick<SlackClock, 'refresh'> | undefined;
}

const storeMs = 2_000;
/** Probes, and strangers on a public port, cost one look a second. */
const keptMs = 1_000;
/** Below Slack's own limit of five minutes for the age of a delivery. */
const maxSkewSeconds = 240;

/** Looks whether the bot can serve. The returned function resolves with the reasons why not, in words; empty = ready. */
export function createReadiness(options: ReadinessOptions): () => Promise<string[]> {
  const { clock, findStoreProblem, slackConnections } = options;
  let latest: { readonly reasons: Promise<string[]>; readonly askedAt: number } | undefined;
  let store: Promise<string | undefined> | undefined;

  const askStore = async (): Promise<string | undefined> => {
    // A question that is still unanswered is not asked again: it would only make a slow database slower.
    store ??= findStoreProblem()
      .catch(() => 'the database does not answer')
      .finally(() => {
        store = undefined;
      });
    const late = setTimeout(storeMs, `the database has not answered for ${storeMs / 1000} s`, { ref: false });
    return Promise.race([store, late]);
  };
  const askClock = async (): Promise<string | undefined> => {
    const skew = await clock?.refresh();
    if (skew === undefined || Math.abs(skew) <= maxSkewSeconds) return undefined;
    const where = skew > 0 ? 'ahead of' : 'behind';
    return `this machine’s clock is ${Math.abs(Math.round(skew))} s ${where} Slack’s: set it by NTP, since deliveries that seem older than five minutes are refused`;
  };
  const look = async (): Promise<string[]> => {
    const [stored, skewed] = await Promise.all([askStore(), askClock()]);
    const silent =
      slackConnections() === 0 ? 'no connection to Slack has brought a frame for 15 s' : undefined;
    return [stored, silent, skewed].filter((reason) => reason !== undefined);
  };
  return () => {
    if (!latest || performance.now() - latest.askedAt > keptMs)
      latest = { reasons: look(), askedAt: performance.now() };
    return latest.reasons;
  };
}
