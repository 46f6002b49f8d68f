import { expect, test } from 'vitest';
import { canaryMark } from '../../simulator/cdn/canaries.ts';
import { createRandom } from '../../simulator/cdn/dice.ts';
import type { EdgeRule, PullZone } from '../../simulator/cdn/zone-fields.ts';
import { generateZone } from '../../simulator/cdn/zones.ts';
import { findSecretKinds, redactDoubtful, textOf } from '../../src/secrets/scanner.ts';
import { withSecrets } from '../../src/secrets/secret.ts';
import { buttons, createCommandHarness } from '../support/command-harness.ts';

const headerTrigger = 1;
const cookieTrigger = 10;
const urlTrigger = 0;
const setHeader = 6;

function createTrigger(type: number, pattern: string, parameter: string | null = null) {
  return { Type: type, PatternMatches: [pattern], PatternMatchingType: 0, Parameter1: parameter };
}

/** A zone as people configure them: what is hidden in it often equals what is visible, in it and in its neighbours. */
function makeZone(index: number): PullZone {
  const zone = generateZone(index);
  const dice = createRandom(index + 7_000);
  const name = `${zone.Name}-v${index}`;
  const visible: [string, ...string[]] = [
    name,
    `${name}.example.com`,
    `https://origin-${name}.example.com`,
    `/checkout-${index}/`,
    `${generateZone(index + 1).Name}-v${index + 1}`,
    String(zone.Id),
    `storage-${2000 + (index % 40)}`,
  ];
  const rule = (position: number, more: Partial<EdgeRule>): EdgeRule => ({
    Guid: `0e5f1c2a-0000-4000-9000-${`${zone.Id}${position}`.padStart(12, '0')}`,
    ActionType: 4,
    ActionParameter1: '',
    ActionParameter2: '',
    ActionParameter3: '',
    Triggers: [],
    ExtraActions: [],
    TriggerMatchingType: 0,
    Description: `Rule ${position} for ${name}`,
    Enabled: true,
    OrderIndex: position,
    ReadOnly: false,
    ...more,
  });
  return {
    ...zone,
    Name: name,
    OriginUrl: `https://origin-${name}.example.com`,
    EdgeRules: [
      ...(zone.EdgeRules ?? []),
      rule(900, { Triggers: [createTrigger(urlTrigger, `*/checkout-${index}/*`)] }),
      rule(901, { Triggers: [createTrigger(cookieTrigger, `*${dice.pick(visible)}*`, 'cohort')] }),
      rule(902, { Triggers: [createTrigger(headerTrigger, dice.pick(visible), 'X-Tenant')] }),
      rule(903, {
        ActionType: setHeader,
        ActionParameter1: 'X-Origin',
        ActionParameter2: dice.pick(visible),
      }),
    ],
  };
}

test('of 100 zones whose hidden values equal visible ones every answer goes out whole, and no secret with it', async () => {
  const zones = Array.from({ length: 100 }, (_, index) => makeZone(index));
  await using harness = await createCommandHarness({ data: { zones } });
  const person = harness.person();
  let answers = 0;
  const look = async (run: () => ReturnType<typeof person.run>) =>
    withSecrets(async () => {
      const messages = await run();
      for (const message of messages) {
        answers += 1;
        expect(findSecretKinds(textOf(message))).toEqual([]);
        expect(redactDoubtful(message)).toEqual(message);
        expect(JSON.stringify(message)).not.toContain(canaryMark);
      }
      return messages;
    });
  for (const { Id: id, Name: name } of zones) {
    const [shown] = await look(() => person.run(`zone ${id}`));
    await look(() => person.press(...(buttons(shown).get('Refresh') ?? ['', ''])));
    // Reads every zone.
    if (id % 10 === 0) await look(() => person.run(`zones ${name}`));
  }
  expect(answers).toBeGreaterThan(200);
}, 60_000);
