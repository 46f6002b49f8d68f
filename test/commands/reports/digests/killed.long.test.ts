import { expect, test } from 'vitest';
import { startCdn } from '../../../../simulator/cdn/server.ts';
import { startSlack } from '../../../../simulator/slack/server.ts';
import { generateKeys } from '../../../auth/keyring/keyrings.ts';
import { connect, environment } from '../../../support/bot.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { startBotProcess } from '../../../support/process.ts';
import { says } from './words.ts';

const { embedded, postgres } = await prepareEngines();

test.each([
  { name: embedded.name, engine: embedded, skip: embedded.skip },
  { name: postgres.name, engine: postgres, skip: postgres.skip },
])(
  'a process that is killed between the post and the record of it has posted once, on $name',
  async ({ engine, skip }) => {
    if (skip) return;
    const [slack, cdn] = await Promise.all([startSlack(), startCdn({ zones: 5 })]);
    const { dataDir, databaseUrl } = await engine.createLocation();
    const env = {
      ...environment({ slack, cdn, dataDir }),
      ENCRYPTION_KEYS: generateKeys('k1'),
      ...(databaseUrl ? { DATABASE_URL: databaseUrl.reveal() } : {}),
    };
    const alice = slack.as('U0ALICE00', 'C0OPS0000');

    const first = startBotProcess(env);
    await first.waitForOutput('"ready"');
    await slack.socket.waitFor(1);
    await connect({ slack, cdn, env }, 'U0ALICE00', 'C0OPS0000');
    await alice.slash('digest new');
    await alice.waitForModal('digests:submit');
    await alice.submit();
    await alice.waitForModal('digests:done');
    // Slack takes the post and never answers it.
    slack.script.hold('chat.postMessage', 'after');
    await alice.press('digests:run');
    await alice.closeModal();
    await alice.waitForMessage(isPost, 15_000);
    await first.kill('SIGKILL');
    expect(slack.calls.filter(({ method }) => method === 'conversations.history')).toEqual([]);

    const second = startBotProcess(env);
    await second.waitForOutput('"ready"');
    // It looks for the message before it does anything else with that run, and writes down that it is there.
    await slack.socket.waitFor(1);
    await slack.called('conversations.history', 90_000);
    // The detail in its thread is the last of it.
    await alice.waitForMessage(({ threadTs }) => threadTs !== undefined, 30_000);
    await alice.slash('digest list');
    await alice.waitForMessage(({ reads, ephemeral }) => ephemeral && /last .*: posted/.test(reads), 30_000);
    expect(alice.messages().filter(isPost)).toHaveLength(1);
    expect(slack.problems).toEqual([]);
    await second.kill('SIGTERM');
    await Promise.all([slack.close(), cdn.close()]);
  },
  180_000,
);

function isPost({ reads, ephemeral }: { reads: string; ephemeral: boolean }): boolean {
  return !ephemeral && says.askedForBy().test(reads);
}
