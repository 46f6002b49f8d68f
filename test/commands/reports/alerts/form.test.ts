import { expect, test } from 'vitest';
import { fillIn, writeFields } from '../../../../src/commands/reports/alerts/feature.ts';
import type { Alert, AlertSubject } from '../../../../src/commands/reports/model.ts';

const order = (subject: Partial<AlertSubject>): Alert =>
  ({
    channel: 'C0OPS0000',
    subject: {
      condition: 'zone-state',
      targets: [],
      every: 5,
      timeZone: 'UTC',
      names: [],
      lifeSign: false,
      ...subject,
    },
  }) as unknown as Alert;

const redrawn = (subject: Partial<AlertSubject>, condition: string) =>
  fillIn({ ...writeFields(order(subject)), condition })[`every:${condition}`];

test.each([
  ['certificate-ending', 1440, 'zone-state', '5'],
  ['settings', 15, 'errors', '5'],
  ['settings', 60, 'errors', '60'],
  ['zone-state', 5, 'settings', '15'],
  ['zone-state', 10, 'settings', '15'],
  ['zone-state', 30, 'settings', '30'],
  ['zone-state', 30, 'zone-state', '30'],
] as const)('%s every %i minutes, changed to %s: every %s', (condition, every, other, expected) => {
  expect(redrawn({ condition, every }, other)).toBe(expected);
});

test('a new form has what its condition has by default', () => {
  expect(fillIn({ condition: 'certificate-ending' })['every:certificate-ending']).toBe('1440');
  expect(fillIn({ condition: 'zone-limit' })['every:zone-limit']).toBe('5');
});
