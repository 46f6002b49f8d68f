import { expect, test } from 'vitest';
import { connect, createPublicUrl, install, useBot } from '../../support/bot.ts';
import { saveSettings } from '../../support/settings.ts';
import { callWithToken, makeToken } from './calls.ts';

/** Frank and Grace are at home in one and two, workspaces of corp. */
const [frank, grace] = ['U0FRANK00', 'U0GRACE00'] as const;
const [one, two] = ['T0CORPONE', 'T0CORPTWO'] as const;
const channels = { [one]: 'C0CORPONE', [two]: 'C0CORPTWO' };

const env = await createPublicUrl();
const origin = env.PUBLIC_URL;
const bot = await useBot({ transport: 'http', install: 'oauth', zones: 3, env }, []);
await install(bot, bot.slack.workspaces.corp.id);
for (const [user, team] of [
  [frank, one],
  [grace, two],
] as const)
  await connect(bot, user, channels[team], bot.cdn.key, team);
await saveSettings(bot.slack.as(frank, channels[one], one), { assistant: 'reading' });

/** Which key the CDN was asked with, where the call was answered. */
async function keyOf(call: () => Promise<{ readonly isError?: unknown }>): Promise<string | undefined> {
  const { isError } = await call();
  return isError === true ? undefined : bot.cdn.requests.at(-1)?.key;
}

async function callAs(user: string, teamId: string) {
  const own = bot.slack.assistant(user, { origin, teamId });
  const answer = await own.call('list_zones');
  await own.close();
  return answer;
}

const callWith = (token: string) => callWithToken(origin, token, 'list_zones');

test('beside an installation of the organization a workspace has its own, with its own keys and settings', async () => {
  expect(await keyOf(() => callAs(grace, two))).toBe('full');
  const token = await makeToken(bot.slack.as(grace, channels[two], two), 'laptop');
  expect(await keyOf(() => callWith(token))).toBe('full');

  // Of two admins of the organization each would have had to confirm the other's change.
  for (const person of bot.slack.world.people)
    if (person.id === grace) Object.assign(person, { admin: true });
  await install(bot, two);
  // Neither her key nor the settings of the organization are those of the workspace.
  expect(await keyOf(() => callAs(grace, two))).toBeUndefined();
  await connect(bot, grace, channels[two], bot.cdn.restrictedKey, two);
  await saveSettings(bot.slack.as(grace, channels[two], two), { assistant: 'reading' });
  expect(await keyOf(() => callAs(grace, two))).toBe('restricted');
  expect(await keyOf(() => callAs(frank, one))).toBe('full');
  // A token stays with the installation and the key with which it was made.
  expect(await keyOf(() => callWith(token))).toBe('full');
});
