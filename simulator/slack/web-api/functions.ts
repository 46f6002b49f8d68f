import { findWrongValues, type StepRun } from '../steps.ts';
import { isObject } from '../world.ts';
import { type ApiCall, type Method, Refused, stringArg } from './call.ts';

/**
 * functions.completeSuccess and functions.completeError: once for each run of a step, by the installation that runs it.
 * https://docs.slack.dev/reference/methods/functions.completeSuccess
 */
export const functionMethods: Record<string, Method> = {
  'functions.completeSuccess'(call) {
    const run = findRunning(call);
    const { outputs } = call.args;
    if (!isObject(outputs))
      throw new Refused('invalid_arguments', ['[ERROR] missing required field: outputs']);
    const wrong = findWrongValues(call.sim.world, run.declared.output_parameters, outputs);
    if (wrong.length > 0) {
      call.sim.problem(`${call.method}: the outputs of ${run.callbackId}: ${wrong.join('; ')}`);
      throw new Refused('parameter_validation_failed', wrong);
    }
    run.end = { outputs };
    call.sim.changed();
    return {};
  },
  'functions.completeError'(call) {
    const run = findRunning(call);
    run.end = { error: stringArg(call, 'error') };
    call.sim.changed();
    return {};
  },
};

function findRunning(call: ApiCall): StepRun {
  const { sim, install } = call;
  const run = sim.steps.runs.get(stringArg(call, 'function_execution_id'));
  if (!run) throw new Refused('function_execution_not_found');
  if (run.installId !== install.id) {
    sim.problem(`${call.method}: the token of ${install.id} was used for a step of ${run.installId}`);
    throw new Refused('access_denied');
  }
  if (run.end) throw new Refused('execution_not_in_running_state');
  return run;
}
