import { expect, test } from 'vitest';
import { findDigestKind } from '../../../../src/commands/reports/checks/list.ts';
import { dayMs, hourMs, minuteMs } from '../../../../src/lib/time.ts';
import type { DigestOrder } from '../../../../src/views/reports/report.ts';
import { alice, createDigestHarness, type DigestHarness } from '../../../support/digests/harness.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { readStable } from '../../../support/words.ts';

const { embedded } = await prepareEngines();

function changedSettings(only: DigestOrder['subject']['only'] = 'always', zones: string[] = []) {
  const targets = { zones, shieldZones: [], apps: [] };
  return {
    subject: { kinds: ['settings'].map(findDigestKind), targets, only, timeZone: 'UTC' },
  } satisfies Partial<DigestOrder>;
}

/** Runs the digests of this day and tells what the channel got. */
async function runDay(harness: DigestHarness): Promise<string[]> {
  const before = harness.readChannel().length;
  // From 08:00 past 09:00, then from day to day.
  harness.advance(harness.now().getUTCHours() === 8 ? hourMs + minuteMs : dayMs);
  await harness.runJobs();
  await harness.runJobsFor(10);
  return harness
    .readChannel()
    .slice(before)
    .map((text) => readStable(text).replace(/Digest \w{5}/u, 'Digest <id>'));
}

function change({ cdn }: DigestHarness, nth: number, members: object): void {
  Object.assign(cdn.data.zones[nth] ?? {}, members);
}

test('a digest tells what changed since it last told, once, whoever found it', async () => {
  await using harness = await createDigestHarness(await embedded.emptyDatabase());
  await harness.createDaily(alice, changedSettings());
  expect(await runDay(harness)).toMatchSnapshot('first run');
  change(harness, 0, { EnableTLS1: true, BlockedIps: ['10.0.0.1'] });
  // A command looks in between: the digest tells it all the same.
  await harness.settingsHistory.look(alice, await harness.ports.cdn(alice, harness.context.signal));
  change(harness, 1, { ZoneSecurityKey: 'CANARY-zone-security-key-new' });
  expect(await runDay(harness)).toMatchSnapshot('changed');
  expect(await runDay(harness)).toMatchSnapshot('nothing changed');
  expect(JSON.stringify(harness.slack.calls)).not.toContain('CANARY-zone');
});

test('below its number a digest stays silent, and tells all of it later', async () => {
  await using harness = await createDigestHarness(await embedded.emptyDatabase());
  await harness.createDaily(alice, changedSettings({ above: 1 }));
  await runDay(harness);
  change(harness, 0, { EnableTLS1: true });
  expect(await runDay(harness)).toEqual([]);
  change(harness, 1, { EnableTLS1: true });
  const [told = ''] = await runDay(harness);
  expect(told).toMatchSnapshot();
});
