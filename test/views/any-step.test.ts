import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { summarize, type ZoneSummary } from '../../src/api/zones/summary.ts';
import { describeAttention, describeStepFailure, toOutput } from '../../src/views/steps.ts';
import { longText as text } from './any.ts';

const zones = fc
  .array(fc.record({ Id: fc.nat(), Name: text, Enabled: fc.boolean(), Suspended: fc.boolean() }), {
    maxLength: 300,
  })
  .map((raw) => raw.map(summarize).filter((zone): zone is ZoneSummary => zone !== undefined));

const isPlain = (output: string): boolean => output.length <= 3000 && !/[<>]/u.test(output);

test('any zones make outputs that are short and no markup', () => {
  fc.assert(
    fc.property(zones, fc.nat(), (found, skipped) => {
      const { count, list, summary } = describeAttention(found, { all: found.length, skipped });
      expect([count, isPlain(list), isPlain(summary), summary.length > 0]).toEqual([
        found.length,
        true,
        true,
        true,
      ]);
      // An output that is required may not be empty where there is something to tell.
      expect(list === '').toBe(found.length === 0);
    }),
    { numRuns: 60 },
  );
});

test('any failure is told as text that is short and no markup', () => {
  fc.assert(
    fc.property(text, text, (message, hint) => {
      const said = describeStepFailure({
        message: `It failed: ${message}`,
        hint,
        offer: 'connect',
        reference: 'R1',
      });
      expect(isPlain(said) && isPlain(toOutput(message))).toBe(true);
    }),
  );
});
