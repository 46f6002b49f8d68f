import { expect, test } from 'vitest';
import { exportOperation } from '../../../src/api/event-logs.ts';
import { ApiError, type ApiErrorFacts } from '../../../src/api/http/errors.ts';
import { LinkedKeyError } from '../../../src/auth/keys/key-store.ts';
import type { SealErrorCode } from '../../../src/auth/keys/sealing.ts';
import { UserError } from '../../../src/errors.ts';
import { SlackFailure } from '../../../src/outbox/slack-port.ts';
import { explainFailure } from '../../../src/slack/receive/failures.ts';
import { renderFailure } from '../../../src/views/blocks/failure.ts';
import { buttons, readText } from '../../support/command-harness.ts';
import { createMemoryLog } from '../../support/engines.ts';
import { readStable } from '../../support/words.ts';

test.each(['replayed', 'refused', 'unknown_key'] as const satisfies SealErrorCode[])(
  'a stored key that is %s shows the next step and is logged with its key id',
  (code) => {
    const log = createMemoryLog();
    const error = new LinkedKeyError(code, 'for the log', 'k1');
    const message = renderFailure(explainFailure(error, { kind: 'command', feature: 'zones' }, log));
    expect(readStable(message)).toMatchSnapshot();
    expect([...buttons(message).values()].map(([action]) => action)).toEqual(['connect:open']);
    const reference = /Reference (\w+)/.exec(readText(message))?.[1];
    expect(log.entries).toEqual([
      {
        level: 'error',
        fields: { reference, kind: 'command', feature: 'zones', code, keyId: 'k1' },
        message: 'cannot decrypt a stored key',
      },
    ]);
  },
);

test.each([
  ['rate_limited', 'Slack is not accepting this right now (rate_limited).'],
  ['internal_error', 'Slack is not accepting this right now (internal_error).'],
  ['ekm_access_denied', 'Slack does not allow the bot to do this (ekm_access_denied).'],
  ['missing_scope', 'Slack does not allow the bot to do this (missing_scope).'],
  ['not_in_channel', 'Slack does not let the bot write there (not_in_channel).'],
  ['token_revoked', 'Slack does not accept the bot’s token (token_revoked).'],
  ['invalid_blocks', 'Slack refused this (invalid_blocks), and nothing was changed.'],
  ['a_new_code', 'Slack refused this (a_new_code), and nothing was changed.'],
  ['put_aside', 'Something went wrong on our side, and nothing was changed.'],
])('Slack’s %s blames whom it concerns, from a job and from the Web API', (code, message) => {
  const errors = [new SlackFailure(code), Object.assign(new Error('no'), { data: { error: code } })];
  for (const error of errors)
    expect(explainFailure(error, { kind: 'job', feature: 'digest' }, createMemoryLog())).toMatchObject({
      message,
    });
});

test.each<[string | undefined, string, string, 'unclear'?]>([
  ['25006', 'cannot execute INSERT in a read-only transaction', 'is read-only right now'],
  ['57P01', 'terminating connection due to administrator command', 'can’t reach its database', 'unclear'],
  ['ECONNREFUSED', 'connect ECONNREFUSED', 'can’t reach its database'],
  ['53300', 'sorry, too many clients already', 'can’t reach its database'],
  ['28P01', 'password authentication failed', 'can’t reach its database'],
  ['3D000', 'database "chatops" does not exist', 'can’t reach its database'],
  ['55000', 'database "chatops" is not currently accepting connections', 'can’t reach its database'],
  [undefined, 'Connection terminated unexpectedly', 'can’t reach its database', 'unclear'],
  // Of the rollback of a transaction whose connection broke: it replaces the cause.
  [
    undefined,
    'Client has encountered a connection error and is not queryable',
    'can’t reach its database',
    'unclear',
  ],
  [undefined, 'Query read timeout', 'can’t reach its database', 'unclear'],
  [undefined, 'timeout exceeded when trying to connect', 'can’t reach its database'],
  ['53100', 'could not extend file', 'disk is full'],
  ['23505', 'duplicate key value', 'Something went wrong'],
])('a database that fails with %s (%s) is told as what it is', (code, text, words, isUnclear) => {
  const error = Object.assign(new Error(text), code === undefined ? {} : { code });
  const { message, reference } = explainFailure(
    error,
    { kind: 'command', feature: 'zones' },
    createMemoryLog(),
  );
  expect(message).toMatch(words);
  // A commit may have been carried out without its answer.
  expect(message.includes('nothing was changed')).toBe(isUnclear === undefined);
  // Where the disk is full, the same would fail again.
  const retry = { actionId: 'help:run', value: 'zones' };
  const repeated = explainFailure(error, { kind: 'command', feature: 'zones', retry }, createMemoryLog());
  expect(repeated.retry).toEqual(code === '53100' ? undefined : retry);
  const read = explainFailure(error, { kind: 'command', feature: 'zones', needs: 'read' }, createMemoryLog());
  expect(read.message).not.toContain('changed');
  expect(reference).toMatch(/^\w{8}$/u);
});

test('what was held back names the reference of the log, and is not offered again', () => {
  const log = createMemoryLog();
  const retry = { actionId: 'help:run', value: 'zones' };
  const error = new SlackFailure('held_back', { reference: 'abcd1234' });
  const failure = explainFailure(error, { kind: 'command', feature: 'zones', retry }, log);
  expect([failure.reference, failure.retry, log.entries]).toEqual(['abcd1234', undefined, []]);
});

test('what a person typed is in their refusal, and not in the log', () => {
  const log = createMemoryLog();
  const failure = explainFailure(
    new UserError('No zone is called hunter2.', 'Type hunter2 otherwise.'),
    { kind: 'command', feature: 'zones' },
    log,
  );
  expect(failure.message).toContain('hunter2');
  expect(log.entries).toHaveLength(1);
  expect(JSON.stringify(log.entries)).not.toContain('hunter2');
});

const network = { code: 'X', message: 'The name api.example was not found (X).', hint: 'Check DNS.' };

test.each<[ApiError['code'], Partial<ApiErrorFacts>]>([
  ['key_refused', { serviceMessage: 'Unauthorized.' }],
  ['key_refused', { serviceMessage: 'The key has ended' }],
  ['refused', { serviceMessage: 'It is *in use*.' }],
  ['refused', { serviceMessage: 'Errors.', fieldErrors: [{ field: 'name', message: 'Too long.' }] }],
  [
    'refused',
    { serviceMessage: 'Bad.', fieldErrors: [undefined, ''].map((field) => ({ field, message: 'Bad.' })) },
  ],
  ['refused', { status: 401, serviceMessage: 'Two words.' }],
  ['refused', { status: 403, errorKey: 'invalid_plan_type.shield' }],
  ['refused', { operation: 'Update Variable', errorKey: 'validation_error' }],
  ['refused', { operation: exportOperation, errorKey: 'invalid_datetime_window' }],
  ['not_found', {}],
  ['not_found', { operation: 'Get Application Usage Summary' }],
  ['not_found', { operation: 'Update Variable' }],
  ['rate_limited', { retryAfterSeconds: 90 }],
  ['rate_limited', {}],
  ['unavailable', { status: 503, serviceMessage: 'Back soon.', requestId: '8b7d4c' }],
  ['unavailable', {}],
  ['unreachable', {}],
  ['unreachable', { network: { kind: 'closed', ...network } }],
  ['unreachable', { network: { kind: 'name', ...network } }],
])('a CDN that fails with %s (%j) is told with a next step', (code, facts) => {
  const error = new ApiError({ code, operation: 'Get Pull Zone', sent: true, ...facts });
  const { message, hint, offer } = explainFailure(
    error,
    { kind: 'command', feature: 'zones' },
    createMemoryLog(),
  );
  expect([message, hint, offer]).toMatchSnapshot();
});
