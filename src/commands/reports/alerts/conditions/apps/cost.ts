import { formatMoney } from '../../../../../views/blocks/format.ts';
import type { Condition } from '../condition.ts';
import { lookAtApps, showApp } from './look.ts';

const initial = 50;

/** An app that costs more a month than it should. */
export const appCost: Condition<'app-cost'> = {
  name: 'app-cost',
  label: 'Cost of an app',
  words: /\bcosts?\b/iu,
  target: 'apps',
  threshold: { label: 'More than', unit: 'dollars a month', initial, least: 1, most: 1_000_000 },
  leastEvery: 60,
  damping: { open: [1, 1], close: 1 },
  describe: ({ threshold = initial }) => `an app costs more than ${formatMoney(threshold)} a month`,
  async evaluate(input) {
    const { threshold = initial } = input.subject;
    return lookAtApps(input, ({ monthlyCost: cost }) => {
      const wrongIf = `more than ${formatMoney(threshold)} a month`;
      if (cost === undefined)
        return { text: 'the CDN does not report its cost', wrongIf, isWrong: undefined };
      return { text: `${formatMoney(cost)} a month`, wrongIf, isWrong: cost > threshold, value: cost };
    });
  },
  formatValue: (dollars) => formatMoney(dollars),
  unit: 'Dollars a month',
  next: showApp,
};
