import { expect, test } from 'vitest';
import { readManifest } from '../../../simulator/slack/manifest.ts';
import type { Step } from '../../../simulator/slack/server.ts';
import type { DeclaredStep } from '../../../simulator/slack/steps.ts';
import { useBot } from '../../support/bot.ts';
import { alice, bob, eve } from '../../support/people.ts';
import { readStable } from '../../support/words.ts';
import { says } from './words.ts';

type Completed = { outputs: Record<string, string | number> };
const outputsOf = async (step: Step): Promise<Completed['outputs']> =>
  ((await step.ended()) as Completed).outputs;
const errorOf = async (step: Step): Promise<string> => ((await step.ended()) as { error: string }).error;

const bot = await useBot();

const run = (id: string, inputs: object = {}, by = alice) => bot.slack.step(id, inputs, { by });
const zone = () => bot.cdn.data.zones[0];

test('zones that need attention are counted and listed, with the key of whoever runs the workflow', async () => {
  const step = await run('zones_needing_attention');
  expect(step.exchange).toMatchObject({ status: 200, timedOut: false });
  const { count, zones, list, summary } = await outputsOf(step);
  expect(zones).toBe(25);
  expect(String(list).split('\n')).toHaveLength(Number(count));
  expect(summary).toBe(`${count} of 25 zones need attention.`);
  const disabled = bot.cdn.data.zones.find(({ Enabled: enabled }) => !enabled);
  expect(list).toContain(`${disabled?.Name} (${disabled?.Id}): disabled`);
});

test('a step that is delivered again runs once', async () => {
  const step = await run('zones_needing_attention');
  await step.ended();
  const asked = bot.cdn.requests.length;
  await bot.slack.redeliver();
  await (await run('origin_errors', { zone: String(zone()?.Id) })).ended();
  const completed = bot.slack.calls.filter(({ args }) => args['function_execution_id'] === step.executionId);
  expect(completed).toHaveLength(1);
  expect(bot.cdn.requests.slice(asked).every(({ path }) => !path.startsWith('/pullzone?'))).toBe(true);
});

test('origin errors of a zone are counted', async () => {
  const outputs = await outputsOf(await run('origin_errors', { zone: zone()?.Name, days: ' yesterday ' }));
  expect(outputs['count']).toBeGreaterThan(0);
  expect(outputs['summary']).toContain(String(outputs['code']));
  const today = await outputsOf(await run('origin_errors', { zone: String(zone()?.Id) }));
  expect(today['summary']).toMatch(/today in/);
});

test('what is wrong is told in a sentence with the next step and a reference that is in the log', async () => {
  const said: Record<string, string> = {};
  for (const [name, inputs] of Object.entries({
    'an unknown zone': { zone: 'no-such <!channel> zone' },
    'several zones': { zone: 'e' },
    'an empty zone': { zone: ' ' },
    'a wrong day': { zone: zone()?.Name, days: 'soon' },
    'a key': { zone: `zone ${bot.cdn.key}` },
    'a key that is not known': {
      zone: '0f8fad5b-d9cb-469f-a165-70867728950e7c9e6679-7425-40de-944b-e07fc1f90ae7',
    },
  })) {
    const error = await errorOf(await run('origin_errors', inputs));
    const reference = /Reference (\S+)$/.exec(error)?.[1] ?? 'none';
    expect(bot.logs.some((line) => line.includes(reference))).toBe(true);
    said[name] = readStable(error);
  }
  bot.cdn.faults.add({ status: 500, times: Number.POSITIVE_INFINITY });
  said['a CDN that fails'] = readStable(await errorOf(await run('zones_needing_attention')));
  bot.cdn.faults.clear();
  said['no key'] = readStable(await errorOf(await run('zones_needing_attention', {}, bob)));
  said['another organization'] = readStable(await errorOf(await run('zones_needing_attention', {}, eve)));
  expect(said).toMatchSnapshot();
});

test('no right follows from a user id that the author of a workflow wrote, or from none', async () => {
  const { zones_needing_attention: declared } = readManifest().steps as {
    zones_needing_attention: DeclaredStep;
  };
  const change = (type: string): DeclaredStep => ({
    ...declared,
    input_parameters: { properties: { person: { type } } },
  });
  const asked = bot.cdn.requests.length;
  const inputs = { person: { id: alice, secret: 'made up' } };
  for (const [given, type] of [
    [{ person: alice }, 'slack#/types/user_id'],
    [inputs, 'object'],
    [{}, 'slack#/types/user_context'],
  ] as const) {
    const step = await bot.slack.step('zones_needing_attention', given, { declared: change(type) });
    expect(readStable(await errorOf(step))).toMatchSnapshot('nobody');
  }
  expect(bot.cdn.requests).toHaveLength(asked);
});

test('neither the token of the run nor the secret of the person is logged or sent', async () => {
  const step = await run('zones_needing_attention');
  await step.ended();
  const told = JSON.stringify([bot.logs, bot.slack.calls]);
  expect(told).not.toContain(bot.cdn.key);
  for (const secret of step.secrets) expect(told).not.toContain(secret);
});

test('the audit tells who ran a step', async () => {
  await (await run('zones_needing_attention')).ended();
  const admin = bot.slack.as(alice);
  await admin.slash('audit step-run');
  const { reads } = await admin.waitForMessage(says.ranStep('zones_needing_attention'));
  expect(reads).toContain('@Alice');
});

test('outputs that Slack refuses end the step with an error and a reference', async () => {
  bot.slack.script.fail('functions.completeSuccess', 'parameter_validation_failed');
  const error = await errorOf(await run('zones_needing_attention'));
  expect(readStable(error)).toMatchSnapshot('refused');
});
