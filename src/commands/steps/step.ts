import type { Right } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import { hasCdnKey } from '../../secrets/key-in-text.ts';
import { findSecretKinds } from '../../secrets/scanner.ts';
import { plainText } from '../../views/blocks/text.ts';
import type { Context } from '../define.ts';

/** An input or output, as people who build workflows see it. */
interface Parameter<Type extends string = 'string' | 'integer' | 'slack#/types/user_id'> {
  readonly type: Type;
  readonly title: string;
  readonly description: string;
  /** May be left out. */
  readonly optional?: true;
}

type Inputs = Readonly<Record<string, Parameter<'string'>>>;

type Values<Declared extends Inputs> = {
  readonly [Name in keyof Declared]: Declared[Name] extends { optional: true } ? string | undefined : string;
};

export type StepOutputs = Readonly<Record<string, string | number | undefined>>;

/**
 * How a step ends: with outputs; with the operation that was proposed for its run, once that is decided; or, where a
 * person has to press a button first, with `late` if they have not by then. `ask` sends the button, and runs after `late`
 * is stored, which would else replace what the press leads to.
 */
export type StepEnd =
  | { readonly outputs: StepOutputs }
  | 'with its operation'
  | { readonly until: Date; readonly late: StepOutputs; readonly ask: () => Promise<void> };

/** A step of Workflow Builder: a function in manifest.yml. */
export interface Step {
  /** The name of the function in the manifest. Renaming it, an input or an output breaks the workflows that use it. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** The right of the person who runs the workflow. A workflow has no channel, so no channel's cap applies. */
  readonly needs: Right;
  readonly inputs: Inputs;
  readonly outputs: Readonly<Record<string, Parameter>>;
  /**
   * Works with the key of the person who runs the workflow. A UserError becomes the error of the step. `runId`: the run
   * of the step in a workflow, Slack's `function_execution_id`.
   */
  readonly run: (
    inputs: Readonly<Record<string, unknown>>,
    context: Context,
    runId: string,
  ) => Promise<StepEnd>;
}

/** Ties the types of inputs to the work. */
export function defineStep<const Declared extends Inputs>({
  run,
  ...step
}: Omit<Step, 'run' | 'inputs'> & {
  readonly inputs: Declared;
  readonly run: (inputs: Values<Declared>, context: Context, runId: string) => Promise<StepEnd>;
}): Step {
  return { ...step, run: (given, context, runId) => run(readInputs(step.inputs, given), context, runId) };
}

function readInputs<Declared extends Inputs>(
  inputs: Declared,
  given: Readonly<Record<string, unknown>>,
): Values<Declared> {
  const read = Object.entries(inputs).map(([name, { title, optional }]) => {
    const value = given[name];
    const text = typeof value === 'string' ? value.trim() : '';
    if (hasCdnKey(text) || findSecretKinds(text).length > 0)
      throw new UserError(
        `The input “${plainText(title, 60)}” of this step looks like a CDN key, so nothing was done with it.`,
        'Whoever builds the workflow can take it out: keys go into `/cdn connect` and nowhere else.',
      );
    if (text !== '' || optional) return [name, text || undefined];
    throw new UserError(
      `The input “${plainText(title, 60)}” of this step is empty.`,
      'Whoever builds the workflow can fill it in.',
    );
  });
  return Object.fromEntries(read) as Values<Declared>;
}

/** The input that names the person whose key is used. Slack fills it in; authors of workflows see no such field. */
export const personInput = { name: 'person', type: 'slack#/types/user_context' } as const;
