import { formatNumber } from '../../../../../views/blocks/format.ts';
import type { Condition } from '../condition.ts';
import { lookAtApps, showApp } from './look.ts';

const initial = 500;

/** An app that answers slowly now. */
export const appLatency: Condition<'app-latency'> = {
  name: 'app-latency',
  label: 'App latency',
  words: /latency|\bslow/iu,
  target: 'apps',
  threshold: {
    label: 'More than',
    unit: 'latency, as the CDN reports it',
    initial,
    least: 1,
    most: 1_000_000,
    hint: 'The CDN gives no unit: see what /cdn app shows now.',
  },
  // One slow moment is no incident.
  damping: { open: [2, 3], close: 3 },
  describe: ({ threshold = initial }) => `latency of an app above ${formatNumber(threshold)}`,
  async evaluate(input) {
    const { threshold = initial } = input.subject;
    return lookAtApps(input, ({ currentLatency: now, averageLatency: average }) => {
      const wrongIf = `above ${formatNumber(threshold)}`;
      if (now === undefined)
        return { text: 'the CDN does not report its latency', wrongIf, isWrong: undefined };
      const usual = average === undefined ? '' : `, ${formatNumber(average)} on average`;
      return {
        text: `latency ${formatNumber(now)}${usual}`,
        wrongIf,
        isWrong: now > threshold,
        value: now,
      };
    });
  },
  formatValue: (latency) => `latency ${formatNumber(latency)}`,
  unit: 'Latency',
  next: showApp,
};
