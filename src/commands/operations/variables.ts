import { z } from 'zod';
import { tenantId } from '../../auth/identity.ts';
import { UserError } from '../../errors.ts';
import { canUndo } from '../../operations/model.ts';
import { findOperation } from '../../operations/queries.ts';
import { findPreviousValue } from '../../operations/values.ts';
import { Secret } from '../../secrets/secret.ts';
import { addFailure, renderFailure } from '../../views/blocks/failure.ts';
import type { FormResult, Message } from '../../views/blocks/message.ts';
import { renderProposed } from '../../views/operations/answers.ts';
import { describeState, renderSent } from '../../views/operations/describe.ts';
import * as forms from '../../views/operations/forms.ts';
import type { With } from '../context.ts';
import { type Action, type Command, defineForm, type Feature } from '../define.ts';
import { loadAffectedByScript } from '../zones/lookup.ts';
import { assertMayPropose, findApprovalNeeds, proposeChange } from './proposals.ts';

const variableCommand: Command<'zoneCache'> = {
  name: 'variable',
  aliases: ['variables', 'var'],
  usage: 'variable [<scriptId> <variableId>]',
  summary: 'Set a variable of an edge script: its value, and whether it is required',
  label: 'Set a variable',
  examples: ['variable', 'variable 301 12'],
  needs: 'change',
  modal: () => forms.variableBusy,
  async load(words, context) {
    const [scriptId, variableId] = words.list;
    if (words.list.length > 2)
      throw new UserError(
        'A value is not typed into the command: everybody near could read it in the history.',
        'Type `/cdn variable` with the two ids, or alone; the form takes the value.',
      );
    if (scriptId === undefined) return forms.renderVariableForm({});
    const [shown, needs] = await Promise.all([
      loadAffectedByScript(scriptId, context),
      findApprovalNeeds('variable-update', context),
    ]);
    return forms.renderVariableForm({ scriptId, variableId }, { shown, needs });
  },
};

const id = (what: string) =>
  z
    .string({ error: `Type ${what}.` })
    .trim()
    .regex(/^\d{1,19}$/, { error: `${what.replace(/^t/, 'T')} is a whole number.` })
    .refine((value) => /^\d{1,19}$/.test(value) && BigInt(value) < 2n ** 63n, {
      error: 'That is too large for an id.',
    });

const required = z
  .enum(['unchanged', 'true', 'false'], { error: 'Pick one of the three.' })
  .default('unchanged')
  .transform((value) => (value === 'unchanged' ? undefined : value === 'true'));

const fields = z
  .object({
    scriptId: id('the script id'),
    variableId: id('the variable id'),
    defaultValue: z.string().max(4096, { error: 'A variable holds at most 4096 characters.' }).optional(),
    empty: z.array(z.string()).optional(),
    required,
  })
  .transform(({ defaultValue, empty, ...rest }, refinement) => {
    const clears = empty?.includes('empty') ?? false;
    if (clears && defaultValue)
      refinement.addIssue({
        code: 'custom',
        path: ['empty'],
        message: 'There is a new value above. Take one of them back.',
      });
    if (!clears && !defaultValue && rest.required === undefined)
      refinement.addIssue({
        code: 'custom',
        path: ['defaultValue'],
        message: 'Nothing would change. Type a new value, or pick below.',
      });
    const value = clears ? '' : defaultValue || undefined;
    return { ...rest, value: value === undefined ? undefined : new Secret(value, 'variable-value') };
  });
type Values = z.output<typeof fields>;

async function submit(
  { scriptId, variableId, value, required }: Values,
  context: With<'ledger' | 'zoneCache'>,
): Promise<FormResult> {
  try {
    const message = await setVariable({ scriptId, variableId, value, required }, undefined, context);
    return { modal: renderSent(message), message };
  } catch (error) {
    // The ids stay in the form. The value does not: a secret is not sent back.
    const problem = context.explain(error);
    return {
      modal: addFailure(forms.renderVariableForm({ scriptId, variableId }), problem),
      message: renderFailure(problem),
    };
  }
}

async function setVariable(
  values: Values,
  reason: string | undefined,
  context: With<'ledger' | 'zoneCache'>,
): Promise<Message> {
  const [snapshot, { policy, approvers }] = await Promise.all([
    loadAffectedByScript(values.scriptId, context),
    findApprovalNeeds('variable-update', context),
  ]);
  const request = { kind: 'variable-update', ...values } as const;
  return renderProposed(await proposeChange({ request, reason, snapshot, policy, approvers }, context));
}

/** Shows the zones that run the script typed into the form, in a view on top of it. */
const preview: Action<'zoneCache'> = {
  id: 'variables:preview',
  needs: 'change',
  modal: () => forms.variableBusy,
  async load(_, context) {
    const scriptId = z
      .string()
      .trim()
      .regex(/^\d{1,19}$/)
      .safeParse(context.modal?.fields['scriptId']).data;
    if (scriptId === undefined)
      throw new UserError('There is no script id yet.', 'Go back, type it, and look again.');
    return forms.renderScriptZones(await loadAffectedByScript(scriptId, context));
  },
};

const undo: Action<'ledger' | 'zoneCache'> = {
  id: 'variables:undo',
  needs: 'change',
  newMessage: true,
  async run(operationId, context) {
    const { ledger, person } = context;
    const operation = await findOperation(ledger, tenantId(person), operationId);
    if (operation?.request.kind !== 'variable-update')
      throw new UserError('There is no such change here any more.', 'Set the variable with `/cdn variable`.');
    if (operation.requester.userId !== person.userId)
      throw new UserError(
        `Only <@${operation.requester.userId}> can undo this with a button.`,
        'Set the variable yourself with `/cdn variable`.',
      );
    if (!canUndo(operation, context.now()))
      throw new UserError(
        `It is too late to undo this (${describeState(operation)}).`,
        'Set the variable with `/cdn variable`.',
      );
    const value = await findPreviousValue(ledger, operationId);
    if (!value)
      throw new UserError(
        'The value before is not known here, or something else set the variable since.',
        'Set it with `/cdn variable`.',
      );
    await assertMayPropose('variable-update', context);
    const { scriptId, variableId } = operation.request;
    const change = { scriptId, variableId, value, required: undefined };
    return setVariable(change, `Undo of ${operation.id}`, context);
  },
};

export const variables: Feature<'ledger' | 'zoneCache'> = {
  name: 'variables',
  commands: [variableCommand],
  actions: [preview, undo],
  forms: [
    defineForm({
      id: 'variables:submit',
      needs: 'change',
      fields,
      loadingView: forms.variableBusy,
      run: submit,
    }),
  ],
};
