import { expect, test } from 'vitest';
import { readRequestedPeriod } from '../../../src/commands/origin-errors/period.ts';
import { UserError } from '../../../src/errors.ts';
import { listDays } from '../../../src/lib/time.ts';

const now = new Date('2026-11-21T23:30:00Z');
const readDays = (typed: string) => readRequestedPeriod(typed === '' ? [] : typed.split(' '), now, 'UTC');

function readRefusal(typed: string): UserError {
  try {
    readDays(typed);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

test.each([
  ['shop', 'shop', '2026-11-21', 1],
  ['shop today', 'shop', '2026-11-21', 1],
  ['shop Yesterday', 'shop', '2026-11-20', 1],
  ['yesterday shop', 'shop', '2026-11-20', 1],
  ['shop 2026-11-03', 'shop', '2026-11-03', 1],
  ['shop 2026-1-3', 'shop', '2026-01-03', 1],
  ['shop last 3 days', 'shop', '2026-11-19', 3],
  ['shop last 1 day', 'shop', '2026-11-21', 1],
  ['last 7 days shop', 'shop', '2026-11-15', 7],
  ['shop 3d', 'shop', '2026-11-19', 3],
  ['shop 2026/11/20', 'shop', '2026-11-20', 1],
  ['2026.11.3 shop', 'shop', '2026-11-03', 1],
  ['shop 1w', 'shop', '2026-11-15', 7],
  ['shop past week', 'shop', '2026-11-15', 7],
  ['shop last week', 'shop', '2026-11-15', 7],
  ['shop 20 Nov', 'shop', '2026-11-20', 1],
  ['Nov 20 shop', 'shop', '2026-11-20', 1],
  ['shop 20th November 2026', 'shop', '2026-11-20', 1],
  ['shop nov 3, 2025', 'shop', '2025-11-03', 1],
  ['shop 22 Nov', 'shop', '2025-11-22', 1],
  ['shop 2026-11-18..20', 'shop', '2026-11-18', 3],
  ['shop 2026-11-18 … 2026-11-20', 'shop', '2026-11-18', 3],
  ['2026/11/20..2026/11/18 shop', 'shop', '2026-11-18', 3],
  ['shop 18..20 Nov', 'shop', '2026-11-18', 3],
  ['shop 29 Oct to 2 Nov', 'shop', '2026-10-29', 5],
  ['shop 2026-11-20 - today', 'shop', '2026-11-20', 2],
  ['shop yesterday to today', 'shop', '2026-11-20', 2],
  ['today today', 'today', '2026-11-21', 1],
  ['yesterday', '', '2026-11-20', 1],
])('%s means %s from %s on, %d days', (typed, zone, first, count) => {
  expect(readDays(typed)).toEqual({ zone, period: { days: { first, count } } });
});

test.each([
  'shop yesteday',
  'shop 11/20/2026',
  'shop 2026/11-20',
  'shop 2026/11/22',
  'shop 2026-02-31',
  'shop 2026-11-22',
  'shop last 8 days',
  'shop last month',
  'shop 2026-11-01..20',
  'shop 2026-11-18..25',
  'shop 31 Feb',
  'shop 18..20',
  'shop mayflower 20',
  'shop last 0 days',
  'shop whenever you like',
])('%s is refused with what is wrong and what is right', (typed) => {
  const { message, hint } = readRefusal(typed);
  expect({ message, hint }).toMatchSnapshot();
});

test.each([
  ['shop 11/20/2026', ['errors shop 2026-11-20']],
  ['shop 3.11.2026', ['errors shop 2026-03-11', 'errors shop 2026-11-03']],
  ['shop last month', ['errors shop last 7 days', 'errors shop today']],
  ['shop 1 Nov to 20 Nov', ['errors shop 2026-11-14..2026-11-20', 'errors shop today']],
  ['shop 31.02.2026', ['errors shop today', 'errors shop yesterday', 'errors shop last 3 days']],
])('%s offers %j', (typed, offered) => {
  expect(readRefusal(typed).offer).toMatchObject(offered.map((types) => ({ types })));
});

test('days in a row go over the end of a month', () => {
  expect(listDays({ first: '2026-02-27', count: 3 })).toEqual(['2026-02-27', '2026-02-28', '2026-03-01']);
});
