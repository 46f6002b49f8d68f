import { expect, test } from 'vitest';
import { mostZones } from '../../../src/commands/zones/history.ts';
import { UserError } from '../../../src/errors.ts';
import { prepareEngines } from '../../support/engines.ts';
import { alice, never, startAccounts } from '../reports/accounts/account-harness.ts';

const engines = await prepareEngines();

test('of 50,000 zones all are too many, and chosen ones are found without keeping the list', async () => {
  const database = await engines.embedded.emptyDatabase();
  const { accounts, simulator, settingsHistory, client } = await startAccounts(database, { zones: 50_000 });
  const account = await accounts.open(alice, never);
  await expect(account.settings.look()).rejects.toBeInstanceOf(UserError);
  // The number is enough: a page of settings for each of ten people filled the heap.
  expect(simulator.requests.filter(({ query }) => query['perPage'] === '1000')).toEqual([]);
  expect(await database.db.selectFrom('zone_settings').select('zone_id').execute()).toEqual([]);

  const look = await settingsHistory.look(alice, client(), [{ id: '50999' }, { id: '1001' }, { id: '9' }]);
  expect(look).toMatchObject({ zones: 2, first: 2, missing: ['9'] });
});

test('as many zones as may be are looked at, changed at once and told in pages', async () => {
  const database = await engines.embedded.emptyDatabase();
  const { simulator, settingsHistory, client } = await startAccounts(database, { zones: mostZones });
  expect(await settingsHistory.look(alice, client())).toMatchObject({ zones: mostZones, first: mostZones });
  simulator.data.zones = simulator.data.zones.map((zone) => ({ ...zone, EnableTLS1: !zone.EnableTLS1 }));
  expect(await settingsHistory.look(alice, client())).toMatchObject({ zones: mostZones, first: 0 });
  const { changes, total } = await settingsHistory.list(alice, {});
  expect([changes.length, total]).toEqual([500, mostZones]);
}, 240_000);
