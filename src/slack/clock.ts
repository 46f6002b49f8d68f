import { minuteMs } from '../lib/time.ts';

/** Slack's clock, as the headers of its answers tell it. */
export interface SlackClock {
  readonly fetch: typeof globalThis.fetch;
  /** Seconds that this machine's clock is ahead, of the latest answer. Undefined until there is one. */
  readonly skew: () => number | undefined;
  /** The same, from an answer at most a minute old: asks Slack if there is no such answer. */
  refresh(): Promise<number | undefined>;
}

const maxAgeMs = minuteMs;
const askMs = 2_000;
/** The header has whole seconds, cut off. */
const cutOffMs = 500;

export function createSlackClock(options: {
  readonly apiUrl: string;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => Date;
}): SlackClock {
  const { apiUrl, fetch, now } = options;
  const api = new URL(apiUrl);
  let latest: { readonly skewMs: number; readonly heardAt: number } | undefined;

  const note = (response: Response): void => {
    const theirs = Date.parse(response.headers.get('date') ?? '');
    if (Number.isNaN(theirs)) return;
    latest = { skewMs: now().getTime() - theirs - cutOffMs, heardAt: performance.now() };
  };
  const skew = (): number | undefined => latest && latest.skewMs / 1000;
  return {
    skew,
    async fetch(input, init) {
      const response = await fetch(input, init);
      note(response);
      return response;
    },
    async refresh() {
      if (latest && performance.now() - latest.heardAt < maxAgeMs) return skew();
      const asked = fetch(new URL('api.test', api), { method: 'POST', signal: AbortSignal.timeout(askMs) });
      // Whether Slack can be reached is another question.
      await asked.then(note, () => undefined);
      return skew();
    },
  };
}
