import { expect, test } from 'vitest';
import { findClosest } from '../../src/commands/did-you-mean.ts';

const commands = ['zones', 'zone', 'connect', 'disconnect', 'whoami', 'help'];

test.each([
  ['zoens', ['zones']],
  ['conect', ['connect']],
  ['ZONS', ['zones', 'zone']],
  ['hlep', ['help']],
  ['disc', ['disconnect']],
  ['whomai', ['whoami']],
  ['completely', []],
  ['x', []],
  ['', []],
])('%j is near to %j', (typed, near) => {
  expect(findClosest(typed, commands).sort()).toEqual(near.toSorted());
});

test('the nearest comes first and no more than asked for', () => {
  expect(findClosest('shop-eu', ['shop-us', 'shop-eu2', 'shop-ap', 'shopping'], 2)).toEqual([
    'shop-eu2',
    'shop-us',
  ]);
});
