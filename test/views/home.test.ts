import { expect, test } from 'vitest';
import { loadHome } from '../../src/commands/home.ts';
import { features, findCommand } from '../../src/commands/registry.ts';
import { parseWords } from '../../src/commands/words.ts';
import { renderHome as drawn, renderMenu } from '../../src/views/home.ts';
import { alice, createCommandHarness, readText } from '../support/command-harness.ts';
import { findViewProblems } from '../support/slack-limits.ts';

test.each(['none', 'linked'] as const)(
  'with the key %s, the Home tab shows person, commands and key in this order',
  async (key) => {
    await using harness = await createCommandHarness({ zones: 1 });
    const view = await loadHome(harness.person(alice, key).context, features);
    expect(findViewProblems(view)).toEqual([]);
    expect(readText(view)).toMatchSnapshot();
    expect(JSON.stringify(view)).toContain(key === 'none' ? 'connect:open' : '"value":"zones"');
  },
);

test.each([0, 1, 5, 30, 150])(
  "with %d sections and commands it stays within Slack's limits",
  async (many) => {
    const list = <T>(make: (index: number) => T): T[] =>
      Array.from({ length: many }, (_, index) => make(index));
    const { command } = findCommand(parseWords('zones'));
    const long = '<&"'.repeat(40);
    const named = list((index) => ({ ...command, name: `${long}${index}` }));
    const view = drawn({
      userId: 'U0ALICE00',
      linked: { fingerprint: 'f1a9c0de', linkedAt: new Date(0) },
      rights: { operator: true, approver: true, admin: true, may: ['read', 'export', 'change', 'destroy'] },
      commands: named,
      pausing: list((index) => ({ kind: 'digest', id: `k${index}`, what: 'Zones', channel: 'C0OPS0000' })),
      sections: list((index) => ({
        isUrgent: index % 2 === 0,
        blocks: list((line) => ({
          type: 'section' as const,
          text: { type: 'plain_text' as const, text: `${line}` },
        })),
      })),
      asOf: new Date(0),
    });
    expect(findViewProblems(view)).toEqual([]);
    const cut = view.blocks.find(({ type }, at) => type === 'context' && view.blocks.length - at > 4);
    expect(cut).toMatchSnapshot('what is not shown');
    expect(findViewProblems(renderMenu(named, false))).toEqual([]);
  },
);
