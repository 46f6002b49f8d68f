import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { version } from '../lib/version.ts';

export type Kind =
  | 'command'
  | 'message'
  | 'action'
  | 'form'
  | 'picker'
  | 'shortcut'
  | 'step'
  | 'tool'
  | 'home'
  | 'event';
export type Outcome = 'answered' | 'refused' | 'failed' | 'duplicate';

/** One request to the CDN or one call of Slack's Web API, when it has ended. */
export interface Call {
  /** The specification's operation, or Slack's method. */
  readonly name: string;
  /** `ok`, or the word for why it failed. */
  readonly outcome: string;
  /** The HTTP status; undefined where there was no answer, or Slack's word says it all. */
  readonly status?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly seconds: number;
}

/** Where the gauges are read from when Prometheus asks. */
export interface GaugeSources {
  readonly inFlight: () => number;
  /** Undefined where deliveries come over HTTP, or to another process. */
  readonly slackConnections: () => number | undefined;
  /** Seconds that the machine's clock is ahead of Slack's; undefined until Slack has answered. */
  readonly clockSkew: () => number | undefined;
  readonly pool: () => { readonly inUse: number; readonly waiting: number };
  /** What waits in the database, from a read a few seconds old at the most; undefined where it does not answer. */
  readonly backlog: () => Promise<Backlog | undefined>;
}

/** Depth, and the age of the oldest in seconds. */
export interface Waiting {
  readonly depth: number;
  readonly oldestSeconds: number;
}

export interface Backlog {
  /** False on a standby, and on a primary during a failover. */
  readonly takesWrites: boolean;
  readonly queues: readonly (Waiting & { readonly queue: string; readonly active: number })[];
  readonly outbox: Waiting;
  /** Scheduled work that should have begun, by its kind. */
  readonly late: Readonly<Record<string, number>>;
  /** Operations that have not ended, by state. */
  readonly operations: Readonly<Record<string, number>>;
}

export type Metrics = ReturnType<typeof createMetrics>;

const quick = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3];
const slow = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * Prometheus metrics. Every label has a bounded number of values: names from the code, states, HTTP statuses, and Slack's
 * words for errors up to a limit. Nothing typed, no id of a person, channel or zone gets into one.
 */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    buckets: number[],
  ) => new Histogram({ name, help, labelNames, buckets, registers });
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name, help, labelNames, registers });

  const deliveries = counter(
    'chatops_deliveries_total',
    'Deliveries from Slack by kind, feature and outcome',
    ['kind', 'feature', 'outcome'],
  );
  const work = histogram(
    'chatops_work_seconds',
    'From acknowledgement to the last answer',
    ['kind', 'feature'],
    slow,
  );
  const acknowledged = histogram(
    'chatops_acknowledgement_seconds',
    'From the arrival of a delivery to its acknowledgement',
    ['transport'],
    quick,
  );
  const acknowledgedSince = histogram(
    'chatops_acknowledgement_since_sent_seconds',
    'From Slack’s own timestamp of a delivery, which may be in whole seconds, to its acknowledgement',
    ['transport'],
    quick,
  );
  const cdn = createCallMetrics('cdn_request', 'Requests to the CDN, each try', 'operation');
  const slack = createCallMetrics('slack_call', 'Calls of Slack’s Web API with their retries', 'method');
  const drift = gauge(
    'chatops_cdn_drift_members',
    'Members in which answers of the CDN differ from the specification, since the start',
    ['operation', 'kind'],
  );
  const refusals = counter(
    'chatops_refusals_total',
    'What the policy refused to people and to jobs, by reason',
    ['reason'],
  );
  const nativeBlocks = counter(
    'chatops_native_blocks_refused_total',
    'Messages whose charts or tables Slack refused, by the way they were sent',
    ['way'],
  );
  const untold = counter(
    'chatops_alerts_untold_total',
    'Messages about an incident that no place took; the next check posts them again',
    [],
  );
  const transitions = counter(
    'chatops_operation_transitions_total',
    'What became of changes at the CDN, each step',
    ['state'],
  );
  gauge('chatops_info', 'The version that runs', ['version']).set({ version }, 1);

  function createCallMetrics(name: string, help: string, by: 'operation' | 'method') {
    const seconds = histogram(`chatops_${name}_seconds`, `${help}: how long they took`, [by], slow);
    const total = counter(`chatops_${name}s_total`, `${help}: how they ended`, [by, 'outcome', 'status']);
    const outcomes = createLimit();
    return (call: Call): void => {
      seconds.observe({ [by]: call.name }, call.seconds);
      total.inc({ [by]: call.name, outcome: outcomes(call.outcome), status: String(call.status ?? 'none') });
    };
  }

  const setGauges = createGauges(gauge);
  let withProcess = false;
  return {
    contentType: registry.contentType,
    delivered(kind: Kind, feature: string, outcome: Outcome, seconds: number): void {
      deliveries.inc({ kind, feature, outcome });
      work.observe({ kind, feature }, seconds);
    },
    /** `sinceSent`: seconds since Slack’s own timestamp, where the delivery has one. */
    acknowledged(transport: 'http' | 'socket', seconds: number, sinceSent: number | undefined): void {
      acknowledged.observe({ transport }, seconds);
      // Clocks differ by a little.
      if (sinceSent !== undefined) acknowledgedSince.observe({ transport }, Math.max(0, sinceSent));
    },
    cdnRequest: cdn,
    slackCall: slack,
    /** `kind`: `wrong`, `missing` or `unknown`. */
    cdnDrift: (operation: string, kind: string, members: number): void =>
      drift.set({ operation, kind }, members),
    /** `reason`: one of the policy's. */
    refused: (reason: string): void => refusals.inc({ reason }),
    alertUntold: (): void => untold.inc(),
    /** `state`: one of the ledger's, or `approval`. */
    operationMoved: (state: string): void => transitions.inc({ state }),
    /** `way`: a Web API method, or `response_url`. */
    nativeBlocksRefused: (way: string): void => nativeBlocks.inc({ way }),
    async render(sources: GaugeSources): Promise<string> {
      // The process metrics observe the garbage collector and the event loop: only once they are read.
      if (!withProcess) collectDefaultMetrics({ register: registry });
      withProcess = true;
      await setGauges(sources);
      return registry.metrics();
    },
  };
}

type CreateGauge = <Label extends string>(
  name: string,
  help: string,
  labelNames?: readonly Label[],
) => Gauge<Label>;

/** The gauges; the returned function sets them to what holds now. */
function createGauges(gauge: CreateGauge) {
  const inFlight = gauge('chatops_in_flight', 'Deliveries acknowledged and not yet answered');
  const connections = gauge('chatops_slack_connections', 'Socket Mode connections with a recent frame');
  const clockSkew = gauge('chatops_clock_skew_seconds', 'How far this clock is ahead of Slack’s');
  const inUse = gauge('chatops_database_connections_in_use', 'Connections of the pool in use');
  const waiting = gauge('chatops_database_waiting', 'Queries that wait for a connection');
  const up = gauge('chatops_database_up', 'Whether the database answered for the metrics below');
  const takesWrites = gauge(
    'chatops_database_takes_writes',
    'Whether the database is a primary that takes writes',
  );
  const queueDepth = gauge('chatops_queue_depth', 'Jobs that could start now', ['queue']);
  const queueAge = gauge('chatops_queue_oldest_seconds', 'How long the oldest of them waits', ['queue']);
  const queueActive = gauge('chatops_queue_active', 'Jobs that run, in all processes', ['queue']);
  const outboxDepth = gauge('chatops_outbox_depth', 'Messages to Slack that are due and not sent');
  const outboxAge = gauge('chatops_outbox_oldest_seconds', 'How long the oldest of them is due');
  const late = gauge('chatops_late', 'Scheduled work that should have begun, by kind', ['kind']);
  const operations = gauge('chatops_operations', 'Changes at the CDN that have not ended, by state', [
    'state',
  ]);
  const byLabel = [queueDepth, queueAge, queueActive, late, operations];

  return async (sources: GaugeSources): Promise<void> => {
    const backlog = await sources.backlog();
    inFlight.set(sources.inFlight());
    setOrRemove(connections, sources.slackConnections());
    setOrRemove(clockSkew, sources.clockSkew());
    const pool = sources.pool();
    inUse.set(pool.inUse);
    waiting.set(pool.waiting);
    up.set(backlog ? 1 : 0);
    takesWrites.set(backlog?.takesWrites ? 1 : 0);
    // A number from before would look like one of now.
    for (const one of byLabel) one.reset();
    for (const { queue, depth, oldestSeconds, active } of backlog?.queues ?? []) {
      queueDepth.set({ queue }, depth);
      queueAge.set({ queue }, oldestSeconds);
      queueActive.set({ queue }, active);
    }
    setOrRemove(outboxDepth, backlog?.outbox.depth);
    setOrRemove(outboxAge, backlog?.outbox.oldestSeconds);
    for (const [kind, count] of Object.entries(backlog?.late ?? {})) late.set({ kind }, count);
    for (const [state, count] of Object.entries(backlog?.operations ?? {})) operations.set({ state }, count);
  };
}

function setOrRemove(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}

// More words than Slack has for the methods in use.
const maxValues = 100;

/** Passes on the first values that it sees; later ones are `other`. */
function createLimit(): (value: string) => string {
  const seen = new Set<string>();
  return (value) => {
    if (seen.size < maxValues) seen.add(value);
    return seen.has(value) ? value : 'other';
  };
}
