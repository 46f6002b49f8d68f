import { expect, test } from 'vitest';
import { LinkedKeyError } from '../../../src/auth/keys/key-store.ts';
import type { SealErrorCode } from '../../../src/auth/keys/sealing.ts';
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
