import { getCACertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { findAuthorityProblem, takeOffQuotes } from '../../src/lib/environment.ts';

test('what libraries read loses its quotes, and nothing else does', () => {
  const env = { PGSSLMODE: '"verify-full"', no_proxy: "'api.bunny.net'\r", HTTPS_PROXY: '""', PS1: '"$"' };
  takeOffQuotes(env);
  expect(env).toStrictEqual({ PGSSLMODE: 'verify-full', no_proxy: 'api.bunny.net', PS1: '"$"' });
});

test('certificates of a private authority that Node did not take are named by their file', () => {
  expect(findAuthorityProblem({})).toBeUndefined();
  const problem = findAuthorityProblem({ NODE_EXTRA_CA_CERTS: '/etc/ca.pem' });
  // The tests themselves may run with such a file.
  const isTaken = getCACertificates('extra').length > 0;
  expect(problem?.includes('/etc/ca.pem')).toBe(isTaken ? undefined : true);
});
