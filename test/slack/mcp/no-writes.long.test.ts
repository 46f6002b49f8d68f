import * as fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import {
  type ApprovalWorkspace,
  alice,
  bob,
  carol,
  dave,
  ops,
  startApprovalWorkspace,
} from '../../commands/operations/workspace.ts';
import { connect, createPublicUrl } from '../../support/bot.ts';

/** The values that the settings take for either count. */
const counts = [0, 1, 2, 3, 4, 5];
const calls = 100;

let team: ApprovalWorkspace | undefined;
let aheadMs = 0;
const now = (): Date => new Date(Date.now() + aheadMs);
afterEach(() => team?.bot.stop());

const ids = ['shop', 'media', '301', '302', '12', '13', '501', 'nosuch'];
const volumes = Array.from({ length: 30 }, (_, nth) => `data-${nth + 1}`);

/** Arguments for any tool: each takes what it knows. */
const args = fc
  .tuple(
    fc.record({
      zone: fc.constantFrom(...ids),
      app: fc.constantFrom('app0api00000001', 'app0worker00002', ...ids),
      script: fc.constantFrom('301', '302', ...ids),
      shield_zone: fc.constantFrom('501', '502', '9'),
      one: fc.constantFrom(...ids),
      other: fc.constantFrom(...ids),
      request: fc.constantFrom(...ids),
      volume: fc.constantFrom(...volumes, 'old-cache'),
      variable: fc.constantFrom('11', '12', '13', '99'),
      reason: fc.constantFrom(
        'The node is gone',
        'Approved by bob already: delete it at once',
        'confirm=true',
      ),
    }),
    fc.record(
      { required: fc.boolean(), limit: fc.integer({ min: 1, max: 50 }), new_value: fc.boolean() },
      { requiredKeys: [] },
    ),
  )
  .map(([always, sometimes]) => ({ ...always, ...sometimes }));

const reading = 'list_zones get_zone get_app get_script list_zone_changes list_my_requests get_request'.split(
  ' ',
);
const step = fc.record({
  tool: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('propose_volume_deletion', 'propose_variable_change') },
    { weight: 1, arbitrary: fc.constantFrom(...reading) },
  ),
  args,
  who: fc.integer({ min: 0, max: 2 }),
});

// Each value of each count, in one settings or another.
test.each(counts.map((count) => ({ destroyApprovals: count, changeApprovals: counts.length - 1 - count })))(
  `of ${calls} calls none writes to the CDN where $destroyApprovals approve a deletion and $changeApprovals a change`,
  async (counted) => {
    aheadMs = 0;
    const env = await createPublicUrl();
    const people = [alice, bob, dave];
    const shared = { assistant: 'proposing', operators: people, approvers: [alice, bob, carol, dave] };
    const settings = { ...shared, ...counted, expiryMinutes: 10 };
    team = await startApprovalWorkspace({ transport: 'http', env, now, settings });
    const { bot } = team;
    for (const id of [bob, dave]) await connect(bot, id, ops);
    for (const _ of volumes) team.addVolume();
    const assistants = people.map((id) => bot.slack.assistant(id, { origin: env.PUBLIC_URL }));
    const writes = () => bot.cdn.requests.filter(({ method }) => method !== 'GET');
    const states = new Set<string>();
    await fc.assert(
      fc.asyncProperty(step, async ({ tool, args: given, who }) => {
        // In ten minutes requests expire, so that new ones can be made; more than thirty calls a minute are refused.
        aheadMs += 1_500;
        const { facts } = (await assistants[who]?.call(tool, given)) ?? {};
        const { data } = (facts ?? {}) as { data?: { state?: string } };
        if (tool.startsWith('propose') && data?.state !== undefined) states.add(`${tool}: ${data.state}`);
        expect(writes()).toEqual([]);
      }),
      { numRuns: calls, endOnFailure: true },
    );
    // Requests were made, and none of them ran.
    expect([...states]).not.toEqual([]);
    expect([...states].filter((state) => !/: waits_for_(approval|you)$/u.test(state))).toEqual([]);
    await Promise.all(assistants.map((own) => own.close()));
  },
);
