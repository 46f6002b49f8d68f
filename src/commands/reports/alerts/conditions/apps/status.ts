import type { Condition } from '../condition.ts';
import { lookAtApps, showApp } from './look.ts';

const fine = new Set(['active', 'progressing']);

/** An app that does not run. */
export const appStatus: Condition<'app-status'> = {
  name: 'app-status',
  label: 'App not active',
  words: /^(?!.*(?:latency|slow|cost)).*\bapps?\b/iu,
  target: 'apps',
  damping: { open: [2, 2], close: 2 },
  describe: () => 'an app is not active',
  evaluate: (input) =>
    lookAtApps(input, ({ status }) => {
      const isKnown = status !== undefined && status !== 'unknown';
      return {
        text: isKnown ? status : 'the CDN does not know its status',
        wrongIf: 'not active or progressing',
        isWrong: isKnown ? !fine.has(status) : undefined,
      };
    }),
  next: showApp,
};
