import { expect, test } from 'vitest';
import type { With } from '../../src/commands/context.ts';
import { preview } from '../../src/commands/digests/form.ts';
import { type DigestKindName, digestKindNames } from '../../src/digests/kinds/list.ts';
import type { Digest } from '../../src/digests/model.ts';
import { context } from '../../src/views/blocks/blocks.ts';
import { prepareEngines } from '../support/engines.ts';
import { alice, createDigestHarness, type DigestHarness } from './harness.ts';

const { embedded } = await prepareEngines();
const day = 86_400_000;

const targets = {
  zones: [],
  scanning: ['shield:501'],
  errors: [],
  apps: ['app:app0api00000001'],
} as const satisfies Record<DigestKindName, readonly string[]>;

/** What the form of this digest previews at this moment, as blocks. */
async function previewOf(digest: Digest, { digests, context: { ports, signal }, now }: DigestHarness) {
  const { kinds } = digest.subject;
  const fields = {
    kind: kinds,
    target: kinds.flatMap((kind) => targets[kind]),
    channel: digest.channel,
    time: '09:00',
    days: ['daily'],
    timezone: 'UTC',
    only: 'always',
  };
  const shown = await preview.load?.('preview', {
    person: alice,
    digests,
    now,
    signal,
    cdn: () => ports.cdn(alice, signal),
    explain: (error: unknown) => ports.explain(error, 'digest'),
    modal: { metadata: `${digest.id}|${digest.revision}`, fields },
  } as unknown as With<'digests'>);
  return shown?.blocks ?? [];
}

test.each([...digestKindNames.map((kind) => [kind]), [...digestKindNames]])(
  'a preview is what is posted: %s',
  async (...kinds) => {
    await using desk = await createDigestHarness(await embedded.emptyDatabase());
    const ids = (kind: DigestKindName): string[] =>
      kinds.includes(kind) ? targets[kind].map((target) => target.slice(target.indexOf(':') + 1)) : [];
    const digest = await desk.createDaily(alice, {
      subject: {
        kinds,
        targets: { zones: [], shieldZones: ids('scanning'), apps: ids('apps') },
        only: 'always',
        timeZone: 'UTC',
      },
    });
    // A first run, and one that compares.
    for (const turn of [1, 2]) {
      desk.advance(turn === 1 ? 3_600_000 + 60_000 : day);
      for (const zone of desk.cdn.data.zones) zone.Enabled = turn === 1;
      const before = desk.slack.calls.length;
      const shown = await previewOf(digest, desk);
      await desk.runJobs();
      await desk.runJobsFor(12);
      const posted = desk.slack.calls
        .slice(before)
        .filter(({ method, ok }) => method === 'chat.postMessage' && ok)
        .map(({ args }) => blocksIn(args['blocks']));
      const [top = [], ...thread] = posted;
      // Under a post there are its footer and its buttons; between the two of a preview, a line and a word.
      const between = context('*In its thread*');
      const expected = [
        ...top.slice(0, -2),
        ...(thread.length > 0 ? [{ type: 'divider' }, between] : []),
        ...thread.flat(),
      ];
      expect(top.length).toBeGreaterThan(2);
      expect(shown.slice(0, -1)).toEqual(expected);
    }
    expect(desk.slack.problems).toEqual([]);
  },
);

function blocksIn(blocks: unknown): unknown[] {
  return (typeof blocks === 'string' ? JSON.parse(blocks) : blocks) as unknown[];
}
