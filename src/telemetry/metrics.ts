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

export interface Call {
  readonly name: string;
  readonly outcome: string;
  readonly status?: number | undefined;
  readonly startedAt: number;
  readonly seconds: number;
}

/** What was measured, by the name of its gauge: a number, or one by the value of its label. */
export type Measured = {
  readonly [Name in keyof typeof gauges]?: number | undefined | Readonly<Record<string, number>>;
};

export type Metrics = ReturnType<typeof createMetrics>;

const quick = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3];
const slow = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

const counters = {
  deliveries_total: 'kind feature outcome | Deliveries from Slack by kind, feature and outcome',
  refusals_total: 'reason | What the policy refused to people and to jobs, by reason',
  native_blocks_refused_total:
    'way | Messages whose charts or tables Slack refused, by the way they were sent',
  messages_untold_total: 'kind | Messages that no place took (refused, expired, or never answered), by kind',
  operation_transitions_total: 'state | What became of changes at the CDN, each step',
  cdn_requests_total: 'operation outcome status | Requests to the CDN, each try: how they ended',
  slack_calls_total: 'method outcome status | Calls of Slack’s Web API with their retries: how they ended',
};

const histograms = {
  work_seconds: 'kind feature | From acknowledgement to the last answer',
  acknowledgement_seconds: 'transport | From the arrival of a delivery to its acknowledgement',
  acknowledgement_since_sent_seconds:
    'transport | From Slack’s own timestamp of a delivery, which may be in whole seconds, to its acknowledgement',
  cdn_request_seconds: 'operation | Requests to the CDN, each try: how long they took',
  slack_call_seconds: 'method | Calls of Slack’s Web API with their retries: how long they took',
};

const gauges = {
  cdn_drift_members:
    'operation kind | Members in which answers of the CDN differ from the specification, on one day',
  info: 'version | The version that runs',
  in_flight: '| Deliveries acknowledged and not yet answered',
  slack_connections: '| Socket Mode connections with a recent frame',
  clock_skew_seconds: '| How far this clock is ahead of Slack’s',
  database_connections_in_use: '| Connections of the pool in use',
  database_waiting: '| Queries that wait for a connection',
  database_up: '| Whether the database answered for the metrics below',
  database_takes_writes: '| Whether the database is a primary that takes writes',
  queue_depth: 'queue | Jobs that could start now',
  queue_oldest_seconds: 'queue | How long the oldest of them waits',
  queue_active: 'queue | Jobs that run, in all processes',
  outbox_depth: '| Messages to Slack that are due and not sent',
  outbox_oldest_seconds: '| How long the oldest of them is due',
  late: 'kind | Scheduled work that should have begun, by kind',
  operations: 'state | Changes at the CDN that have not ended, by state',
};

const measuredGauges = (Object.keys(gauges) as (keyof typeof gauges)[]).filter(
  (name) => name !== 'info' && name !== 'cdn_drift_members',
);

/** Every label has a bounded number of values: nothing typed, no id of a person, channel or zone. */
export function createMetrics() {
  const registry = new Registry();
  const createAll = <Name extends string, One>(
    table: Readonly<Record<Name, string>>,
    create: (metric: { name: string; help: string; labelNames: string[]; registers: Registry[] }) => One,
  ): Record<Name, One> => {
    const created = Object.entries<string>(table).map(([name, text]) => {
      const [labels = '', help = ''] = text.split('| ');
      const labelNames = labels.split(' ').filter(Boolean);
      return [name, create({ name: `chatops_${name}`, help, labelNames, registers: [registry] })] as const;
    });
    return Object.fromEntries(created) as Record<Name, One>;
  };
  const counter = createAll(counters, (metric) => new Counter(metric));
  const gauge = createAll(gauges, (metric) => new Gauge(metric));
  const histogram = createAll(histograms, (metric) => {
    const buckets = metric.labelNames.includes('transport') ? quick : slow;
    return new Histogram({ ...metric, buckets });
  });
  gauge.info.set({ version }, 1);

  const setGauges = (measured: Measured): void => {
    for (const name of measuredGauges) {
      const [one, value] = [gauge[name], measured[name]];
      const [label = ''] = gauges[name].split(' ');
      // A number from before would look like one of now.
      one.reset();
      if (typeof value === 'object')
        for (const [key, count] of Object.entries(value)) one.set({ [label]: key }, count);
      else if (value !== undefined) one.set(value);
      else if (label === '|') one.remove();
    }
  };

  let withProcess = false;
  return {
    contentType: registry.contentType,
    delivered(kind: Kind, feature: string, outcome: Outcome, seconds: number): void {
      counter.deliveries_total.inc({ kind, feature, outcome });
      histogram.work_seconds.observe({ kind, feature }, seconds);
    },
    /** `sinceSent`: seconds since Slack’s own timestamp, where the delivery has one. */
    acknowledged(transport: 'http' | 'socket', seconds: number, sinceSent: number | undefined): void {
      histogram.acknowledgement_seconds.observe({ transport }, seconds);
      if (sinceSent !== undefined)
        histogram.acknowledgement_since_sent_seconds.observe({ transport }, Math.max(0, sinceSent));
    },
    cdnRequest: createCallCounter(counter.cdn_requests_total, histogram.cdn_request_seconds, 'operation'),
    slackCall: createCallCounter(counter.slack_calls_total, histogram.slack_call_seconds, 'method'),
    cdnDrift: (operation: string, kind: string, members: number): void =>
      gauge.cdn_drift_members.set({ operation, kind }, members),
    refused: (reason: string): void => counter.refusals_total.inc({ reason }),
    untold: (kind: string): void => counter.messages_untold_total.inc({ kind }),
    operationMoved: (state: string): void => counter.operation_transitions_total.inc({ state }),
    nativeBlocksRefused: (way: string): void => counter.native_blocks_refused_total.inc({ way }),
    render(measured: Measured): Promise<string> {
      // The process metrics observe the garbage collector and the event loop: only once they are read.
      if (!withProcess) collectDefaultMetrics({ register: registry });
      withProcess = true;
      setGauges(measured);
      return registry.metrics();
    },
  };
}

function createCallCounter(total: Counter, seconds: Histogram, by: 'operation' | 'method') {
  return (call: Call): void => {
    seconds.observe({ [by]: call.name }, call.seconds);
    total.inc({ [by]: call.name, outcome: call.outcome, status: String(call.status ?? 'none') });
  };
}
