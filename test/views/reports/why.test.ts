import { expect, test } from 'vitest';
import { renderWhy } from '../../../src/views/reports/incident.ts';
import type { Alert } from '../../../src/views/reports/report.ts';
import { type AlertHarness, createAlertHarness } from '../../support/alerts/harness.ts';
import { addErrors } from '../../support/alerts/looks.ts';
import { alice } from '../../support/digests/harness.ts';
import { prepareEngines } from '../../support/engines.ts';
import { findMessageProblems } from '../../support/slack-limits.ts';
import { readStable } from '../../support/words.ts';

const { embedded } = await prepareEngines();

async function readWhy(harness: AlertHarness, { id }: Alert): Promise<string> {
  const alert = await harness.find({ id } as Alert);
  const message = renderWhy(alert, await harness.reports.listIncidents(id), harness.now());
  expect(findMessageProblems(message)).toEqual([]);
  return readStable(message, { id });
}

/** The messages of the channel, with the threads. */
function readAll(harness: AlertHarness, { id }: Alert): string[] {
  const { slack } = harness;
  const messages = slack.as(alice.userId, 'C0OPS0000').messages();
  return messages.map(
    ({ reads, threadTs }) => `${threadTs === undefined ? '' : '> '}${readStable(reads, { id })}`,
  );
}

test('why says what is compared before the first look, while it is wrong, when it calms down and afterwards', async () => {
  await using harness = await createAlertHarness(await embedded.emptyDatabase());
  const { data } = harness.cdn;
  data.originErrors.count = 0;
  const [zone] = data.zones;
  const targets = [String(zone?.Id)];
  const alert = await harness.createAlert({ condition: 'errors', targets, threshold: 50, window: 10 });
  const said = [await readWhy(harness, alert)];
  await harness.look();
  addErrors(data, zone?.Id ?? 0, { many: 60, at: harness.now().getTime(), code: 'dns_lookup' });
  for (const looks of [1, 2, 3]) {
    await harness.look(looks);
    said.push(await readWhy(harness, alert));
  }
  expect(said).toMatchSnapshot('why');
  expect(readAll(harness, alert)).toMatchSnapshot('incident');
});

test('changes of settings are one message that says before and after, and a change each in its thread', async () => {
  await using harness = await createAlertHarness(await embedded.emptyDatabase());
  const { data } = harness.cdn;
  const [zone] = data.zones;
  const targets = [String(zone?.Id)];
  const alert = await harness.createAlert({ condition: 'settings', targets, every: 15 });
  await harness.look(3);
  expect(readAll(harness, alert)).toEqual([]);
  const tls = zone?.EnableTLS1 ?? false;
  Object.assign(zone ?? {}, { EnableTLS1: !tls, ZoneSecurityKey: 'another-secret-key' });
  await harness.look(3);
  Object.assign(zone ?? {}, { EnableTLS1: tls });
  await harness.look(3);
  const told = [...readAll(harness, alert), await readWhy(harness, alert)];
  await harness.look(9);
  expect([told, readAll(harness, alert), await readWhy(harness, alert)]).toMatchSnapshot();
  expect((await harness.incidents()).map(({ closedAt }) => closedAt !== undefined)).toEqual([true]);
});
