import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Kind = 'command' | 'message' | 'action' | 'form' | 'picker' | 'shortcut' | 'home' | 'event';
export type Outcome = 'answered' | 'refused' | 'failed' | 'duplicate';

export interface Metrics {
  delivered(kind: Kind, feature: string, outcome: Outcome, seconds: number): void;
  readonly contentType: string;
  render(): Promise<string>;
}

/** Prometheus metrics: only kinds, feature names and outcomes are labels, so nothing typed can get into one. */
export function createMetrics(gauges: { inFlight: () => number; slackConnections: () => number }): Metrics {
  const registry = new Registry();
  const deliveries = new Counter({
    name: 'chatops_deliveries_total',
    help: 'Deliveries from Slack by kind, feature and outcome',
    labelNames: ['kind', 'feature', 'outcome'],
    registers: [registry],
  });
  const work = new Histogram({
    name: 'chatops_work_seconds',
    help: 'From acknowledgement to the last answer',
    labelNames: ['kind', 'feature'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  const live = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  live('chatops_in_flight', 'Deliveries acknowledged and not yet answered', gauges.inFlight);
  live('chatops_slack_connections', 'Open Socket Mode connections', gauges.slackConnections);
  let withProcess = false;
  return {
    contentType: registry.contentType,
    delivered(kind, feature, outcome, seconds) {
      deliveries.inc({ kind, feature, outcome });
      work.observe({ kind, feature }, seconds);
    },
    render() {
      // The process metrics observe the garbage collector and the event loop: only once they are read.
      if (!withProcess) collectDefaultMetrics({ register: registry });
      withProcess = true;
      return registry.metrics();
    },
  };
}
