import { expect, test } from 'vitest';
import { LinkedKeyError } from '../../../src/auth/keys/key-store.ts';
import type { SealErrorCode } from '../../../src/auth/keys/sealing.ts';
import { explainFailure, sayTooMany } from '../../../src/slack/receive/failures.ts';
import type { Responder } from '../../../src/slack/send/responder.ts';
import type { Message } from '../../../src/views/blocks/blocks.ts';
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

test('what comes while too much waits is answered in a sentence, also where that cannot be sent', async () => {
  const log = createMemoryLog();
  const sent: Message[] = [];
  const responder = {
    replaces: () => true,
    async send(...[message]: Parameters<Responder['send']>) {
      sent.push(message);
      throw new Error('Slack does not answer');
    },
  };
  await sayTooMany(responder, 'command', log);
  expect(sent.map((message) => readStable(message))).toMatchSnapshot();
  expect(log.entries.map(({ message }) => message)).toEqual([
    'refused a request',
    'cannot say that too many commands wait',
  ]);
});
