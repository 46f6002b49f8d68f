import type { startPlayground } from './playground.ts';

type Playground = Awaited<ReturnType<typeof startPlayground>>;

/** Connects Alice's key on the bot's page, and lets assistants read and ask, as an admin does. */
export async function prepareAssistant({ slack, cdn }: Pick<Playground, 'slack' | 'cdn'>): Promise<void> {
  const alice = slack.as('U0ALICE00', 'C0OPS0000');
  await alice.slash('connect');
  const offer = await alice.waitForMessage(({ blocks }) => JSON.stringify(blocks).includes('/connect/'));
  const page = /http[^"]*\/connect\/[\w-]+/u.exec(JSON.stringify(offer.blocks))?.[0] ?? '';
  await fetch(page, {
    method: 'POST',
    headers: { origin: new URL(page).origin, 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ accessKey: cdn.key }),
  });
  await alice.slash('settings assistant');
  await alice.waitForModal('settings:submit');
  await alice.submit({ assistant: 'proposing' });
  await alice.waitForModal('settings:done');
}
