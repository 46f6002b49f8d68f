import { expect, test } from 'vitest';
import { loadHome } from '../../src/commands/home.ts';
import { features, findCommand } from '../../src/commands/registry.ts';
import { parseWords } from '../../src/commands/words.ts';
import { renderHome as drawn, renderMenu } from '../../src/views/home.ts';
import { alice, createCommandHarness, readText } from '../support/command-harness.ts';
import { findViewProblems } from '../support/slack-limits.ts';

test('the Home tab shows who I am, whether a key is connected, and the next step', async () => {
  await using harness = await createCommandHarness({ zones: 1 });
  const before = await loadHome(harness.person(alice, 'none').context, features);
  expect(findViewProblems(before)).toEqual([]);
  expect(JSON.stringify(before)).toMatch(/<@U0ALICE00>, .*connect:open/u);
  const after = await loadHome(harness.person().context, features);
  expect(findViewProblems(after)).toEqual([]);
  expect(JSON.stringify(after)).toMatch(/f1a9c0de.*rights: read/u);
  expect(JSON.stringify(after)).toContain('"value":"zones"');
});

test('the Home tab shows person, commands and key in this order', async () => {
  await using harness = await createCommandHarness({ zones: 1 });
  const without = readText(await loadHome(harness.person(alice, 'none').context, features));
  expect(without).toMatchSnapshot();
  expect(readText(await loadHome(harness.person().context, features))).toMatchInlineSnapshot(`
    "Your CDN, from Slack
    No state from the last 24 hours: press *Zones* to see what needs attention, *Origin errors* to see what fails.
    Zones
    Origin errors
    Find a zone
    Approvals
    Anything else…
    Look
    Changed settings
    Compare two zones
    App
    Upload scanning
    API keys
    Act
    Digests
    Alerts
    This bot
    My permissions
    My tokens
    Check a permission
    Help
    *Your key*
    Replace key
    Forget my key
    Disconnect your API key?
    Pauses your digests and alerts. Waiting requests are cancelled.
    Disconnect
    Keep it
    Fingerprint \`f1a9c0de\` · connected since <!date^1795262400^{date_short_pretty} {time}|2026-11-21 12:00 UTC>
    rights: read
    Type \`/cdn\` in any channel. As of <!date^1795262400^{date_short_pretty} {time}|2026-11-21 12:00 UTC>."
  `);
});

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
