import { z } from 'zod';
import { variablePath } from '../../api/variables.ts';
import type { VariableShown } from '../../api/zones/summary.ts';
import { tenantId } from '../../auth/identity.ts';
import { UserError } from '../../errors.ts';
import { Secret } from '../../secrets/secret.ts';
import type { FormResult } from '../../views/blocks/blocks.ts';
import { addFailure } from '../../views/blocks/failure.ts';
import { formatInteger } from '../../views/blocks/format.ts';
import { renderProposed } from '../../views/operations/answers.ts';
import { describeOutcome, describeState, renderSent } from '../../views/operations/describe.ts';
import * as forms from '../../views/operations/forms.ts';
import { type Action, type Command, defineForm, type Feature, type With } from '../define.ts';
import { rememberUse } from '../names.ts';
import { loadAffectedByScript } from '../zones/lookup.ts';
import { canUndo, type Operation } from './model.ts';
import { assertMayPropose, findApprovalNeeds, proposeChange } from './proposals.ts';
import { findOperation, loadVariableName } from './queries.ts';
import { findPreviousValue } from './values.ts';

const variableCommand: Command<'ledger' | 'names' | 'zoneCache'> = {
  name: 'variable',
  aliases: ['variables', 'var'],
  usage: 'variable [<scriptId> <variableId>]',
  summary: 'Set a variable of an edge script: its value, and whether it is required',
  label: 'Set a variable',
  examples: ['variable', 'variable 301 12'],
  needs: 'change',
  modal: () => forms.variableBusy,
  async load(words, context) {
    const [typed, variableId] = words.list;
    if (words.list.length > 2)
      throw new UserError(
        'A value is not typed into the command: everybody near could read it in the history.',
        'Type `/cdn variable` with the two ids, or alone; the form takes the value.',
      );
    if (typed === undefined) return forms.renderVariableForm({});
    const scriptId = await context.names.resolve(context.person, 'script', typed);
    const [shown, needs] = await Promise.all([
      loadVariableShown({ scriptId, variableId }, context),
      findApprovalNeeds('variable-update', context),
    ]);
    return forms.renderVariableForm({ scriptId, variableId }, { shown, needs });
  },
};

const id = (noun: string) =>
  z
    .string({ error: `Type the ${noun}.` })
    .trim()
    .regex(/^\d{1,19}$/, { error: `The ${noun} is a whole number.`, abort: true })
    .refine((value) => BigInt(value) < 2n ** 63n, { error: 'That is too large for an id.' });
const scriptIdField = id('script id');

const required = z
  .enum(['unchanged', 'true', 'false'], { error: 'Pick one of the three.' })
  .default('unchanged')
  .transform((value) => (value === 'unchanged' ? undefined : value === 'true'));

const valueField = (max: number) =>
  z
    .string()
    .max(max, { error: `At most ${formatInteger(max)} characters here.` })
    .optional();

const curlyQuotes =
  'It has curly quotes (“ ” ‘ ’): phones put them in place of straight ones. Type straight ones, or tick below that they stay.';

const fields = z
  .object({
    scriptId: scriptIdField,
    variableId: id('variable id'),
    defaultValue: valueField(forms.valueLengths.first),
    moreValue: valueField(forms.valueLengths.rest),
    empty: z.array(z.string()).optional(),
    required,
  })
  .transform(({ defaultValue = '', moreValue = '', empty, ...rest }, refinement) => {
    const typed = defaultValue + moreValue;
    const isEmptied = empty?.includes('empty') ?? false;
    const refuse = (path: string, message: string): void =>
      refinement.addIssue({ code: 'custom', path: [path], message });
    if (isEmptied && typed) refuse('empty', 'There is a new value above. Take one of them back.');
    if (!isEmptied && !typed && rest.required === undefined)
      refuse('defaultValue', 'Nothing would change. Type a new value, or pick below.');
    for (const [path, text] of Object.entries({ defaultValue, moreValue }))
      if (/[“”„‟‘’‚‛]/u.test(text) && !empty?.includes('curly')) refuse(path, curlyQuotes);
    const value = isEmptied ? '' : typed || undefined;
    return { ...rest, value: value === undefined ? undefined : new Secret(value, 'variable-value') };
  });
type Values = z.output<typeof fields>;

async function submit(values: Values, context: With<'ledger' | 'names' | 'zoneCache'>): Promise<FormResult> {
  // The ids stay in the form. The value does not: a secret is not sent back.
  const { scriptId, variableId } = values;
  const form = forms.renderVariableForm({ scriptId, variableId });
  try {
    const operation = await setVariable(values, undefined, context);
    await rememberUse('script', scriptId, context);
    const { word, fields } = operation.outcome ?? {};
    if (word === 'refused') return addFailure(form, { message: describeOutcome(operation), fields });
    const message = renderProposed(operation);
    return { modal: renderSent(message), message };
  } catch (error) {
    return addFailure(form, context.explain(error));
  }
}

async function setVariable(
  values: Values,
  reason: string | undefined,
  context: With<'ledger' | 'zoneCache'>,
): Promise<Operation> {
  const [snapshot, { policy, approvers }] = await Promise.all([
    loadVariableShown(values, context),
    findApprovalNeeds('variable-update', context),
  ]);
  const request = { kind: 'variable-update', ...values } as const;
  return proposeChange({ request, reason, snapshot, policy, approvers }, context);
}

/** The zones that run the script now, and the variable's name if the CDN has told it. */
export async function loadVariableShown(
  { scriptId, variableId }: { readonly scriptId: string; readonly variableId: string | undefined },
  context: With<'ledger' | 'zoneCache'>,
): Promise<VariableShown> {
  const { ledger, person } = context;
  const path = variableId === undefined ? undefined : variablePath(scriptId, variableId);
  const name = path && (await loadVariableName(ledger, tenantId(person), path));
  return { ...(await loadAffectedByScript(scriptId, context)), name };
}

/** Shows the zones that run the script typed into the form, in a view on top of it. */
const previewAction: Action<'zoneCache'> = {
  id: 'variables:preview',
  needs: 'change',
  modal: () => forms.variableBusy,
  async load(_, context) {
    const scriptId = scriptIdField.safeParse(context.modal?.fields['scriptId']).data;
    if (scriptId === undefined)
      throw new UserError('There is no script id yet.', 'Go back, type it, and look again.');
    return forms.renderScriptZones(await loadAffectedByScript(scriptId, context));
  },
};

const undoAction: Action<'ledger' | 'zoneCache'> = {
  id: 'variables:undo',
  needs: 'change',
  newMessage: true,
  async run(operationId, context) {
    const { ledger, person } = context;
    const operation = await findOperation(ledger, tenantId(person), operationId);
    const hint = 'Set the variable with `/cdn variable`.';
    if (operation?.request.kind !== 'variable-update')
      throw new UserError('There is no such change here any more.', hint);
    if (operation.requester.userId !== person.userId)
      throw new UserError(`Only <@${operation.requester.userId}> can undo this with a button.`, hint);
    if (!canUndo(operation, context.now()))
      throw new UserError(`It is too late to undo this (${describeState(operation)}).`, hint);
    const value = await findPreviousValue(ledger, operationId);
    if (!value)
      throw new UserError(
        'The value before is not known here, or something else set the variable since.',
        hint,
      );
    await assertMayPropose('variable-update', context);
    const { scriptId, variableId } = operation.request;
    const change = { scriptId, variableId, value, required: undefined };
    return renderProposed(await setVariable(change, `Undo of ${operation.id}`, context));
  },
};

const variableForm = defineForm({
  id: 'variables:submit',
  needs: 'change',
  fields,
  loadingView: forms.variableBusy,
  run: submit,
});

export const variables: Feature<'ledger' | 'names' | 'zoneCache'> = {
  name: 'variables',
  commands: [variableCommand],
  actions: [previewAction, undoAction],
  forms: [variableForm],
};
