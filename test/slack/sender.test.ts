import { expect, test } from 'vitest';
import { readShownName } from '../../src/slack/sender.ts';

const person = { teamId: 'T0ACME000', userId: 'U0ALICE00' };

test.each([
  ['a command', { user_name: 'alice', team_domain: 'acme' }, '@alice in acme.slack.com'],
  [
    'a press',
    { user: { username: 'alice', name: 'Alice' }, team: { domain: 'acme' } },
    '@alice in acme.slack.com',
  ],
  [
    'a press with a name only',
    { user: { name: 'alice' }, team: { domain: 'acme' } },
    '@alice in acme.slack.com',
  ],
  ['a press in an organisation', { user: { username: 'alice' }, team: null }, '@alice in T0ACME000'],
  ['nothing readable', { user_name: 7, team_domain: '', user: 'x' }, 'U0ALICE00 in T0ACME000'],
  ['no delivery at all', undefined, 'U0ALICE00 in T0ACME000'],
])('the page names somebody by what came with %s', (_, body, name) => {
  expect(readShownName(body, person)).toBe(name);
});
