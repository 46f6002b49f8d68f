import { expect, test } from 'vitest';
import { SecretLeakBlocked, UserError } from '../../../src/errors.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { perform, type SlackDeps, type Work } from '../../../src/slack/receive/perform.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { createMemoryLog } from '../../support/engines.ts';
import { says } from '../words.ts';

/** A bot in which all work waits for long, and that has seen every delivery before. */
function createBusyBot(more: Partial<Work> = {}, isClaimed = false) {
  const said: unknown[] = [];
  const log = createMemoryLog();
  let runs = 0;
  const deps = {
    access: { own: () => undefined, token: async () => new Secret('xoxb-1') },
    async postToResponseUrl(_tenant: string, _url: string, { text }: { text: string }) {
      if (text.includes('secret')) throw new SecretLeakBlocked('response_url', 'abcd1234');
      said.push(text);
    },
    inFlight: {
      async run(task: (signal: AbortSignal) => Promise<unknown>, _person: object, onWait: () => void) {
        runs += 1;
        onWait();
        onWait();
        return task(new AbortController().signal);
      },
    },
    claimOnce: async (id: string) => isClaimed && Promise.reject(new UserError(`no ${id}`)),
    shouldRecord: () => true,
    zoneCache: { forPerson: () => ({ answers: { get: () => undefined, set: () => undefined } }) },
    keyStore: { reveal: async () => undefined },
    metrics: createMetrics(),
    log,
    throttledLog: log,
  } as unknown as SlackDeps;
  const work: Work = {
    feature: 'any',
    needs: 'none',
    route: {},
    run: async () => void said.push('worked on'),
    ...more,
  };
  const deliver = (body: object, route?: Work['route']) =>
    perform(deps, { kind: 'command', body, claim: 't1', ...(route ? { route } : {}) }, work);
  return { deliver, said, log, runs: () => runs };
}

const body = { team_id: 'T1', user_id: 'U1' };
const route = { responseUrl: 'https://hooks.slack.test/1' };

test('a command that waits for long says so once, the next one again, and a press says nothing', async () => {
  const { deliver, said } = createBusyBot();
  await deliver(body, route);
  expect(said).toEqual([says.waiting]);
  await deliver(body, route);
  await deliver(body);
  expect(said).toEqual([says.waiting, says.waiting]);
});

test('a delivery that names nobody is not worked on, and in the log', async () => {
  const { deliver, said, log, runs } = createBusyBot();
  await deliver({ team_id: 'T1' }, route);
  expect([said, runs(), log.entries.map(({ level }) => level)]).toEqual([[], 0, ['warn']]);
});

test.each<[string, Partial<Work>, string[]]>([
  ['with what was typed', { addTyped: (message) => ({ ...message, text: 'typed' }) }, ['typed']],
  ['alone where what was typed holds a secret', { addTyped: () => ({ text: 'secret' }) }, ['no command:t1']],
  ['in its form alone', { showFailure: async () => true }, []],
  ['as a message where the form is closed', { showFailure: async () => false }, ['no command:t1']],
  [
    'as a message where the form fails',
    { showFailure: () => Promise.reject(new Error('no')) },
    ['no command:t1'],
  ],
])('a failure is shown %s', async (_, more, told) => {
  const { deliver, said } = createBusyBot({ route, ...more }, true);
  await deliver(body);
  expect(said).toHaveLength(told.length);
  for (const [nth, text] of told.entries()) expect(said[nth]).toContain(text);
});
