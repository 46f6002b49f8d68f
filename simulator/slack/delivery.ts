import type { Json } from './world.ts';

/** The app's answer to a delivery. */
export interface Exchange {
  /** HTTP status; 200 for an acknowledgement over Socket Mode; 0 without an answer. */
  status: number;
  /** The acknowledgement's body: parsed JSON, text, or '' when it was empty. */
  body: unknown;
  ms: number;
  timedOut: boolean;
}

export interface Delivery {
  readonly kind: 'slash_commands' | 'interactive' | 'events_api';
  readonly payload: Json;
  /** Named in problems: `slash "/cdn zones"`. */
  readonly label: string;
  readonly retry?: { attempt: number; reason: string };
}

export interface Answer {
  status: number;
  body: unknown;
  /** The receiver asked not to be sent this again. */
  noRetry?: boolean;
}

/** Carries deliveries to the app. The promise settles with the acknowledgement, however late; it may never settle. */
export interface Transport {
  send(delivery: Delivery): Promise<Answer>;
}

export interface Deliverer {
  deliver(delivery: Delivery): Promise<Exchange & { noRetry: boolean }>;
  /** The last delivery again. */
  readonly redeliver: () => Promise<Exchange>;
  /** Deliveries that wait for their acknowledgement. */
  pending(): number;
  useHttp(on: boolean): void;
  transport(): 'http' | 'socket';
}

/** Delivers over HTTP or Socket Mode and holds the app to acknowledging in time (3 s in Slack). */
export function createDeliverer(options: {
  http: Transport;
  socket: Transport;
  ackTimeoutMs: number;
  problem: (text: string) => void;
  changed: () => void;
}): Deliverer {
  let pending = 0;
  let http = false;
  let last: Delivery | undefined;

  async function deliver(delivery: Delivery): Promise<Exchange & { noRetry: boolean }> {
    last = delivery;
    pending += 1;
    options.changed();
    const started = performance.now();
    const elapsedMs = (): number => Math.round(performance.now() - started);
    let late = false;
    let timer: NodeJS.Timeout | undefined;
    const answer = (http ? options.http : options.socket).send(delivery);
    const timeout = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, options.ackTimeoutMs, undefined);
    });
    const noteLate = ({ status }: Answer): void => {
      if (late && status !== 0)
        options.problem(
          `${delivery.label}: acknowledged after ${elapsedMs()} ms, later than ${options.ackTimeoutMs} ms`,
        );
    };
    void answer.then(noteLate);
    const first = await Promise.race([answer, timeout]);
    clearTimeout(timer);
    late = first === undefined;
    if (!first) options.problem(`${delivery.label}: no acknowledgement within ${options.ackTimeoutMs} ms`);
    pending -= 1;
    options.changed();
    if (!first) return { status: 0, body: '', ms: elapsedMs(), timedOut: true, noRetry: false };
    return {
      status: first.status,
      body: first.body,
      ms: elapsedMs(),
      timedOut: false,
      noRetry: first.noRetry ?? false,
    };
  }

  return {
    deliver,
    async redeliver() {
      if (!last) throw new Error('Nothing was delivered yet');
      return await deliver(last);
    },
    pending: () => pending,
    useHttp(on) {
      http = on;
    },
    transport: () => (http ? 'http' : 'socket'),
  };
}
