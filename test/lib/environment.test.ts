import { expect, test } from 'vitest';
import { takeOffQuotes } from '../../src/lib/environment.ts';

test('what libraries read loses its quotes, and nothing else does', () => {
  const env = { PGSSLMODE: '"verify-full"', no_proxy: "'api.bunny.net'\r", HTTPS_PROXY: '""', PS1: '"$"' };
  takeOffQuotes(env);
  expect(env).toStrictEqual({ PGSSLMODE: 'verify-full', no_proxy: 'api.bunny.net', PS1: '"$"' });
});
