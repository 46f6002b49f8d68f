import { expect, test } from 'vitest';
import { digestKinds, findDigestKind } from '../../../../src/commands/reports/checks/list.ts';
import { digest as feature } from '../../../../src/commands/reports/digests/feature.ts';
import { context, type MessageBlock } from '../../../../src/views/blocks/blocks.ts';
import { replaceNativeBlocks } from '../../../../src/views/blocks/native.ts';
import {
  type Digest,
  type Targets,
  type TargetType,
  targetTypes,
} from '../../../../src/views/reports/report.ts';
import { alice, createDigestHarness, type DigestHarness } from '../../../support/digests/harness.ts';
import { prepareEngines } from '../../../support/engines.ts';

const { embedded } = await prepareEngines();
const day = 86_400_000;

/** By the type of ids that a kind takes. */
const targets: Targets = { zones: [], shieldZones: ['501'], apps: ['app0api00000001'] };

/** What the form of this digest previews at this moment, as blocks. */
async function previewOf(digest: Digest, harness: DigestHarness) {
  const { reports, now } = harness;
  const { ports, signal } = harness.context;
  const { kinds } = digest.subject;
  const fields = {
    kind: kinds.map(({ name }) => name),
    target: kinds.flatMap(({ target }) => targets[target].map((id) => `${targetTypes[target].prefix}:${id}`)),
    channel: digest.channel,
    time: '09:00',
    days: ['daily'],
    timezone: 'UTC',
    only: 'always',
  };
  const preview = feature.actions?.find(({ id }) => id === 'digests:preview');
  const shown = await preview?.load?.('preview', {
    person: alice,
    accounts: ports.accounts,
    reports,
    now,
    signal,
    cdn: () => ports.cdn(alice, signal),
    explain: (error: unknown) => ports.explain(error, 'digest'),
    modal: { metadata: `${digest.id}|${digest.revision}`, fields },
  } as never);
  return shown?.blocks ?? [];
}

const names = digestKinds.map(({ name }) => name);
test.each([...names.map((kind) => [kind]), names])(
  'a preview is what is posted: %s',
  async (...chosenNames) => {
    const kinds = chosenNames.map(findDigestKind);
    await using harness = await createDigestHarness(await embedded.emptyDatabase());
    const chosen = kinds.map(({ target }) => target);
    const pick = (type: TargetType): readonly string[] => (chosen.includes(type) ? targets[type] : []);
    const digest = await harness.createDaily(alice, {
      subject: {
        kinds,
        targets: { zones: pick('zones'), shieldZones: pick('shieldZones'), apps: pick('apps') },
        only: 'always',
        timeZone: 'UTC',
      },
    });
    // A first run, and one that compares.
    for (const turn of [1, 2]) {
      harness.advance(turn === 1 ? 3_600_000 + 60_000 : day);
      for (const zone of harness.cdn.data.zones) zone.Enabled = turn === 1;
      const before = harness.slack.calls.length;
      const shown = await previewOf(digest, harness);
      await harness.runJobs();
      await harness.runJobsFor(12);
      const posted = harness.slack.calls
        .slice(before)
        .filter(({ method, ok }) => method === 'chat.postMessage' && ok)
        .map(({ args }) => blocksIn(args['blocks']));
      const [top = [], ...thread] = posted;
      // Under a post there are its footer and its buttons; between the two of a preview, a line and a word.
      const between = context('*In the thread*');
      const expected: MessageBlock[] = [
        ...top.slice(0, -2),
        ...(thread.length > 0 ? [{ type: 'divider' } as const, between] : []),
        ...thread.flat(),
      ];
      expect(top.length).toBeGreaterThan(2);
      expect(shown.slice(0, -1)).toEqual(replaceNativeBlocks(expected));
    }
    expect(harness.slack.problems).toEqual([]);
  },
);

function blocksIn(blocks: unknown): MessageBlock[] {
  return (typeof blocks === 'string' ? JSON.parse(blocks) : blocks) as MessageBlock[];
}
