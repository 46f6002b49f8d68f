import type { Ports } from '../../../src/app/jobs.ts';

/** For jobs that reach nowhere: whatever they reached for would fail their test. */
export const noPorts = new Proxy({} as Ports, {
  get(_, name) {
    throw new Error(`this job reaches nowhere, and asked for ${String(name)}`);
  },
});
