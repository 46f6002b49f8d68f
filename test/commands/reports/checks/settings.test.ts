import { expect, test } from 'vitest';
import { dayMs, minuteMs } from '../../../../src/lib/time.ts';
import { listEvidence, listParts, startLooks } from '../../../support/alerts/looks.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { alice, never } from '../accounts/account-harness.ts';

const { embedded } = await prepareEngines();
const names = ['shop', 'docs', 'blog'].map((Name) => ({ Name, BlockedIps: [] }));

test('every change is told once, whoever found it, and secrets never', async () => {
  const world = await startLooks(await embedded.emptyDatabase(), names);
  const look = world.createLook('settings');
  expect(listEvidence(await look())).toEqual(['3 zones: read: changes are reported from now on']);
  world.later(15 * minuteMs);
  world.change(1001, { EnableTLS1: true, ZoneSecurityKey: 'another-secret-key' });
  const found = await look();
  expect(listParts(found).sort()).toEqual([
    'shop: TLS 1.0: off → on',
    'shop: Token authentication key: changed, not shown',
  ]);
  expect(JSON.stringify(found)).not.toContain('another-secret');
  world.later(15 * minuteMs);
  expect(await look()).toMatchObject({ parts: [] });

  // Another reader of the same person looks first.
  world.later(dayMs);
  world.change(1002, { EnableTLS1: true });
  await (await world.accounts.open(alice, never)).settings.look();
  world.later(15 * minuteMs);
  world.change(1002, { EnableTLS1: false });
  const both = await look();
  expect(listParts(both)).toEqual(['docs: TLS 1.0: on → off', 'docs: TLS 1.0: off → on']);
  // The same setting again is another change.
  expect(new Set(both.parts.map(({ id }) => id)).size).toBe(2);
});

test('of chosen zones only theirs; one that is deleted is told, then it is gone', async () => {
  const world = await startLooks(await embedded.emptyDatabase(), names);
  const look = world.createLook('settings', { targets: ['1001', '1002'] });
  await look();
  world.later(15 * minuteMs);
  world.change(1003, { EnableTLS1: true });
  world.remove(1002);
  const found = await look();
  expect(listParts(found)).toEqual(['docs: Zone: deleted']);
  expect(listEvidence(found)).toMatchSnapshot('a zone is deleted');
  world.remove(1001);
  world.later(15 * minuteMs);
  await expect(look()).rejects.toThrow('None of this alert’s zones');
});

test('of more changes than a message takes the number is told', async () => {
  const world = await startLooks(await embedded.emptyDatabase(), names);
  const look = world.createLook('settings');
  await look();
  for (const { Id } of world.data.zones) {
    const on = Object.keys(world.data.zones[0] ?? {}).filter((name) =>
      /^(?:Enable|Optimizer|Origin)/u.test(name),
    );
    world.change(Id, Object.fromEntries(on.map((name) => [name, flip(world.data.zones[0], name)])));
  }
  world.later(15 * minuteMs);
  const found = await look();
  expect(found.parts).toHaveLength(50);
  expect(listParts(found).at(-1)).toMatch(/^Further: \d{2,} more changes$/u);
});

function flip(zone: object | undefined, name: string): unknown {
  const value = (zone as Readonly<Record<string, unknown>>)[name];
  if (typeof value === 'boolean') return !value;
  return typeof value === 'number' ? value + 1 : value;
}
