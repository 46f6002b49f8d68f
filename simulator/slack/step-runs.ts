import { randomBytes } from 'node:crypto';
import { newId } from './clock.ts';
import type { Exchange } from './delivery.ts';
import { deliverEvent, type EventOptions } from './events.ts';
import { appId } from './payloads.ts';
import type { Simulation } from './simulation.ts';
import { type DeclaredStep, findWrongValues, type StepRun, userContext } from './steps.ts';
import type { Json } from './world.ts';

export interface StepOptions extends EventOptions {
  /** Who runs the workflow, for the inputs that only Slack can fill in. Without anyone they are left out. */
  readonly by?: string;
  /** The definition in the app's settings, where it is not the manifest's. */
  readonly declared?: DeclaredStep;
}

/** Runs a step as a workflow does: `function_executed`, with the inputs that its author wrote. */
export async function runStep(
  sim: Simulation,
  callbackId: string,
  inputs: Json,
  { by, declared = sim.steps.declared[callbackId], ...options }: StepOptions = {},
): Promise<StepRun & { readonly exchange: Exchange }> {
  if (!declared) throw new Error(`The manifest declares no function ${callbackId}`);
  const { properties } = declared.input_parameters;
  const vouched = Object.keys(properties).filter((name) => properties[name]?.type === userContext);
  for (const name of vouched)
    if (name in inputs)
      throw new Error(`Only Slack fills in ${name}: authors of workflows see no such field`);
  const secret = randomBytes(16).toString('hex');
  const filled = by === undefined ? [] : vouched.map((name) => [name, { id: by, secret }] as const);
  const given = { ...inputs, ...Object.fromEntries(filled) };
  const wrong = findWrongValues(sim.world, declared.input_parameters, given);
  if (wrong.length > 0) throw new Error(`A workflow with this step cannot be published: ${wrong.join('; ')}`);

  const teamId = options.teamId ?? sim.world.workspaces.acme.id;
  const install = sim.installs.forTeam(teamId) ?? sim.installs.byId(teamId);
  // Of the step alone: it ends after 15 minutes, or with the step.
  const token = `xwfp-${randomBytes(24).toString('hex')}`;
  const run: StepRun = {
    executionId: newId('Fx'),
    callbackId,
    installId: install?.id ?? '',
    declared,
    secrets: [secret, token],
  };
  sim.steps.runs.set(run.executionId, run);
  const exchange = await deliverEvent(sim, toEvent(run, given, token), options);
  return Object.assign(run, { exchange });
}

function toEvent({ executionId, callbackId, declared }: StepRun, inputs: Json, token: string): Json {
  return {
    type: 'function_executed',
    function: {
      id: newId('Fn'),
      callback_id: callbackId,
      title: declared.title,
      description: declared.description,
      type: 'app',
      input_parameters: listParameters(declared.input_parameters),
      output_parameters: listParameters(declared.output_parameters),
      app_id: appId,
      date_created: 1_790_000_000,
      date_updated: 1_790_000_000,
      date_deleted: 0,
    },
    inputs,
    function_execution_id: executionId,
    workflow_execution_id: newId('Wx'),
    bot_access_token: token,
  };
}

function listParameters({ properties, required = [] }: DeclaredStep['input_parameters']): Json[] {
  return Object.entries(properties).map(([name, { type, title, description }]) => {
    return { type, name, description, title, is_required: required.includes(name) };
  });
}
