import { expect, test } from 'vitest';
import { findDigestKind } from '../../../../src/commands/reports/checks/list.ts';
import { digestFields, writeFields } from '../../../../src/commands/reports/digests/feature.ts';
import { describeThreshold } from '../../../../src/views/reports/report.ts';

const filled = {
  kind: ['zones', 'errors'],
  target: [],
  channel: 'C0OPS0000',
  time: '09:00',
  days: ['workdays'],
  timezone: 'Europe/Vienna',
};

test.each([
  [{}, 'always'],
  [{ only: 'changed', above: '' }, 'changed'],
  [{ only: 'changed', above: '0' }, { above: 0 }],
  [{ above: ' 2500 ' }, { above: 2500 }],
  [{ above: '999999999' }, { above: 999_999_999 }],
])('a threshold: %j', (fields, only) => {
  const order = digestFields.parse({ ...filled, ...fields });
  expect(order.subject.only).toEqual(only);
  // What was ordered is what the form shows when it is edited, and what it shows is ordered again.
  const { only: again, above } = writeFields(order);
  expect(digestFields.parse({ ...filled, only: again, above }).subject.only).toEqual(only);
});

test.each([
  ['always', '-1'],
  ['always', '1.5'],
  ['always', '1000000000'],
  ['sometimes', '5'],
])('a threshold that is wrong: %s %s', (only, above) => {
  const { error } = digestFields.safeParse({ ...filled, only, above });
  expect(error?.issues.map(({ path, message }) => [path[0], message])).toMatchSnapshot();
});

test('days of a month are those from the first to the last', () => {
  expect(digestFields.parse({ ...filled, days: ['31', '1'] }).schedule.monthDays).toEqual([1, 31]);
});

test.each([
  [{ days: ['0'] }, 'days'],
  [{ days: ['32'] }, 'days'],
  [{ kind: ['weather'] }, 'kind'],
  [{ kind: ['scanning'] }, 'target'],
  [{ target: ['zone:shop'] }, 'target'],
  [{ target: ['501'] }, 'target'],
  [{ channel: 'D0ALICE00' }, 'channel'],
  [{ timezone: 'Vienna' }, 'timezone'],
])('what nobody can order is told in its field: %j', (fields, wrong) => {
  const { error } = digestFields.safeParse({ ...filled, ...fields });
  expect(new Set(error?.issues.map(({ path }) => path[0]))).toEqual(new Set([wrong]));
});

test('a threshold in words says what is counted', () => {
  expect([
    describeThreshold({ above: 2500 }, ['errors'].map(findDigestKind)),
    describeThreshold({ above: 1 }, ['errors', 'apps'].map(findDigestKind)),
    describeThreshold({ above: 0 }, ['zones', 'scanning', 'apps'].map(findDigestKind)),
  ]).toMatchSnapshot();
});
