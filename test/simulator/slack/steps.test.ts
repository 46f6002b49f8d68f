import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import type { DeclaredStep } from '../../../simulator/slack/steps.ts';
import { callWebApi, startStubApp } from './stub-app.ts';

const alice = 'U0ALICE00';
const look: DeclaredStep = {
  title: 'Look',
  description: 'Looks for somebody',
  input_parameters: {
    properties: { person: { type: 'slack#/types/user_context' }, zone: { type: 'string', title: 'Zone' } },
    required: ['person', 'zone'],
  },
  output_parameters: {
    properties: { count: { type: 'integer' }, by: { type: 'slack#/types/user_id' } },
    required: ['count'],
  },
};
let slack: SlackSimulator;
let peer: Awaited<ReturnType<typeof startStubApp>>;

beforeEach(async () => {
  slack = await startSlack({ steps: { 'a:look': look } });
  peer = await startStubApp(slack);
});
afterEach(async () => {
  await peer.close();
  await slack.close();
});

const complete = (id: string, outputs: object, token?: string) =>
  callWebApi(slack, 'functions.completeSuccess', { function_execution_id: id, outputs }, token);

test('a workflow cannot fill in the person, leave out what is required, or give another type', async () => {
  await expect(slack.step('a:look', { zone: 'shop', person: { id: alice } })).rejects.toThrow('Only Slack');
  await expect(slack.step('a:look', { zone: 'shop' })).rejects.toThrow('person is missing');
  await expect(slack.step('a:look', { zone: 5 }, { by: alice })).rejects.toThrow('zone is no string');
  await expect(slack.step('a:other', {})).rejects.toThrow('declares no function a:other');
  expect(peer.received).toEqual([]);
});

test('a step is completed once, with the outputs of its definition', async () => {
  const { executionId, ended } = await slack.step('a:look', { zone: 'shop' }, { by: alice });
  for (const outputs of [{}, { count: 'five' }, { count: 5, by: 'nobody' }, { count: 5, other: 1 }])
    expect(await complete(executionId, outputs)).toMatchObject({ error: 'parameter_validation_failed' });
  expect(slack.problems.splice(0)).toHaveLength(4);
  expect(await complete(executionId, { count: 5, by: alice })).toMatchObject({ ok: true });
  expect(await ended()).toEqual({ outputs: { count: 5, by: alice } });
  const late = { function_execution_id: executionId, error: 'too late' };
  for (const again of [await complete(executionId, { count: 5 }), await callWebApi(slack, failed, late)])
    expect(again).toMatchObject({ ok: false, error: 'execution_not_in_running_state' });
  expect(slack.problems).toEqual([]);
});

const failed = 'functions.completeError';

test('an unknown run, one of another installation, and the token of the step itself are refused', async () => {
  expect(await complete('Fx0', { count: 5 })).toMatchObject({ error: 'function_execution_not_found' });
  const { executionId, secrets } = await slack.step('a:look', { zone: 'shop' }, { by: alice });
  expect(await complete(executionId, { count: 5 }, secrets[1])).toMatchObject({ error: 'invalid_auth' });
  const { botToken } = slack.workspaces.beta;
  expect(await complete(executionId, { count: 5 }, botToken)).toMatchObject({ error: 'access_denied' });
  expect(slack.problems.splice(0)).toHaveLength(1);
});

test('a manifest with wrong functions is refused', async () => {
  const { input_parameters: inputs } = look;
  const refused: [object, string][] = [
    [{ ...look, description: '' }, 'no description'],
    [{ ...look, callback_id: 'x' }, 'no member callback_id'],
    [{ ...look, output_parameters: {} }, 'no properties in output_parameters'],
    [{ ...look, input_parameters: { ...inputs, required: ['day'] } }, 'requires day'],
    [{ ...look, input_parameters: { properties: { zone: { type: 'text' } } } }, 'zone has the type text'],
  ];
  for (const [step, problem] of refused)
    await expect(startSlack({ steps: { 'a:look': step as DeclaredStep } })).rejects.toThrow(problem);
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`a:${at}`, look]));
  await expect(startSlack({ steps: many })).rejects.toThrow('more than 50');
});
