import { expect, test } from 'vitest';
import { storeEnds } from '../../../src/slack/receive/lifecycle-events.ts';

const acme = 'T0ACME000';

/** What a change of a user ends, and who is looked up again. */
async function change(user: object, body: object = { team_id: acme }) {
  const seen: string[] = [];
  await storeEnds(
    {
      event_id: 'Ev1',
      event_time: 1,
      event: { type: 'user_change', user: { id: 'U1', deleted: true, ...user } },
      ...body,
    },
    {
      store: async (_, ends) => void seen.push(...ends.map(({ cause }) => cause)),
      changed: (_, userId) => void seen.push(userId),
    },
  );
  return seen;
}

const corp = {
  authorizations: [{ team_id: null, enterprise_id: 'E1', is_enterprise_install: true }],
  team_id: 'T1',
  enterprise_id: 'E1',
};

test.each([
  ['of this workspace', { team_id: acme }, undefined],
  ['without a workspace', {}, undefined],
  ['whose organisation has this workspace', { team_id: 'T9', enterprise_user: { teams: [acme] } }, undefined],
  ['of this organisation', { enterprise_user: { enterprise_id: 'E1' } }, corp],
])('a person %s ends', async (_, user, body) => {
  expect(await change(user, body)).toEqual(['U1', 'user-deleted']);
});

test.each([
  ['a stranger', { team_id: acme, is_stranger: true }, undefined],
  ['somebody of another workspace', { team_id: 'T0RIVAL00' }, undefined],
  ['somebody of another organisation', { enterprise_user: { enterprise_id: 'E2' } }, corp],
])('%s with the same id ends nobody', async (_, user, body) => {
  expect(await change(user, body)).toEqual([]);
});
