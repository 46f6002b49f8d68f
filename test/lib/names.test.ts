import { expect, test } from 'vitest';
import { mixesAlphabets } from '../../src/lib/names.ts';

test.each(['сheckout', 'checkοut', 'checkօut', 'checkꓳut', 'Ꭱeports', 'ⲟrders'])(
  '%s mixes alphabets',
  (name) => {
    expect(mixesAlphabets(name)).toBe(true);
  },
);

test.each(['checkout', 'заказы', 'Größe 2', 'παραγγελίες'])('%s is of one alphabet', (name) => {
  expect(mixesAlphabets(name)).toBe(false);
});
