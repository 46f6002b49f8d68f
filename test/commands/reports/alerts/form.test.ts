import { expect, test } from 'vitest';
import { readChoice, writeFields } from '../../../../src/commands/reports/alerts/feature.ts';
import type { ConditionName } from '../../../../src/commands/reports/checks/list.ts';
import { toSubject } from '../../../support/alerts/harness.ts';

const redrawn = (every: number, name: ConditionName, condition: string) => {
  const subject = toSubject({ condition: name, every });
  return readChoice({ ...writeFields({ channel: 'C0OPS0000', subject }), condition }).every;
};

test.each([
  ['certificate-ending', 1440, 'zone-state', 5],
  ['settings', 15, 'errors', 5],
  ['settings', 60, 'errors', 60],
  ['zone-state', 5, 'settings', 15],
  ['zone-state', 10, 'settings', 15],
  ['zone-state', 30, 'settings', 30],
  ['zone-state', 30, 'zone-state', 30],
] as const)('%s every %i minutes, changed to %s: every %i', (condition, every, other, expected) => {
  expect(redrawn(every, condition, other)).toBe(expected);
});

test('a new form has what its condition has by default', () => {
  expect(readChoice({ condition: 'certificate-ending' }).every).toBe(1440);
  expect(readChoice({ condition: 'zone-limit' }).every).toBe(5);
});
