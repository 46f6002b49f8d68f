import { z } from 'zod';
import { tenantId } from '../../auth/identity.ts';
import { UserError } from '../../errors.ts';
import { canUndo } from '../../operations/model.ts';
import { Secret } from '../../secrets/secret.ts';
import { addFailure, renderFailure } from '../../views/blocks/failure.ts';
import type { Message } from '../../views/blocks/message.ts';
import { renderProposed } from '../../views/operations/answers.ts';
import { renderSent, renderState } from '../../views/operations/operations.ts';
import * as forms from '../../views/operations/variables.ts';
import {
  type Action,
  type Command,
  type Context,
  defineForm,
  type Feature,
  type FormResult,
} from '../define.ts';
import type { Words } from '../words.ts';
import { loadAffectedByScript, toShownFacts } from '../zones/affected.ts';
import { canAsk, findApprovalNeeds, propose } from './proposals.ts';

const variableCommand: Command = {
  name: 'variable',
  aliases: ['variables', 'var'],
  usage: 'variable [<scriptId> <variableId>]',
  summary: 'Set a variable of an edge script: its value, and whether it is required',
  label: 'Set a variable',
  examples: ['variable', 'variable 301 12'],
  needs: 'change',
  modal: () => forms.variableBusy,
  async fill(words, context) {
    const typed = idsIn(words);
    if (words.list.length > 2)
      throw new UserError(
        'A value is not typed into the command: everybody near could read it in the history.',
        'Type `/cdn variable` with the two ids, or alone; the form takes the value.',
      );
    if (typed.scriptId === undefined) return forms.renderVariableForm(typed);
    return known(typed.scriptId, typed, context);
  },
};

function idsIn({ list: [scriptId, variableId] }: Words): forms.VariableTyped {
  return { scriptId, variableId };
}

async function known(scriptId: string, typed: forms.VariableTyped, context: Context) {
  const [shown, needs] = await Promise.all([
    loadAffectedByScript(scriptId, context),
    findApprovalNeeds('variable-update', context),
  ]);
  return forms.renderVariableForm(typed, { shown, needs });
}

const id = (what: string) =>
  z
    .string({ error: `Type ${what}.` })
    .trim()
    .regex(/^\d{1,19}$/, { error: `${what.replace(/^t/, 'T')} is a whole number.` })
    .refine((value) => /^\d{1,19}$/.test(value) && BigInt(value) < 2n ** 63n, {
      error: 'That is too large for an id.',
    });

const touched = z
  .preprocess(
    // A menu, a checkbox or a word: whatever the form was drawn with.
    (value) => (Array.isArray(value) ? (value.length > 0 ? 'true' : 'unchanged') : (value ?? 'unchanged')),
    z.enum(['unchanged', 'true', 'false'], { error: 'Pick one of the three.' }),
  )
  .transform((value) => (value === 'unchanged' ? undefined : value === 'true'));

const fields = z
  .object({
    scriptId: id('the script id'),
    variableId: id('the variable id'),
    defaultValue: z.string().max(4096, { error: 'A variable holds at most 4096 characters.' }).optional(),
    empty: z.array(z.string()).optional(),
    required: touched,
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
  context: Context,
): Promise<FormResult> {
  try {
    const message = await set({ scriptId, variableId, value, required }, undefined, context);
    return { modal: renderSent(message), message };
  } catch (error) {
    // All but the value stays: a secret is not sent back into a form.
    const problem = context.explain(error);
    return {
      modal: addFailure(forms.renderVariableForm({ scriptId, variableId }), problem),
      message: renderFailure(problem),
    };
  }
}

async function set(request: Values, reason: string | undefined, context: Context): Promise<Message> {
  const [shown, { policy }] = await Promise.all([
    loadAffectedByScript(request.scriptId, context),
    findApprovalNeeds('variable-update', context),
  ]);
  const asked = { kind: 'variable-update', ...request } as const;
  return renderProposed(
    await propose({ request: asked, reason, snapshot: toShownFacts(shown), policy }, context),
  );
}

/** The zones that run the script typed into the form, on top of it. */
const preview: Action = {
  id: 'variables:preview',
  needs: 'change',
  modal: () => forms.variableBusy,
  async fill(_, context) {
    const scriptId = z
      .string()
      .trim()
      .regex(/^\d{1,19}$/)
      .safeParse(context.modal?.fields['scriptId']).data;
    if (scriptId === undefined)
      throw new UserError('There is no script id yet.', 'Go back, type it, and look again.');
    return forms.scriptZones(await loadAffectedByScript(scriptId, context));
  },
};

const undo: Action = {
  id: 'variables:undo',
  needs: 'change',
  apart: true,
  async run(operationId, context) {
    const { operations, person } = context;
    const operation = await operations.find(tenantId(person), operationId);
    if (operation?.request.kind !== 'variable-update')
      throw new UserError('There is no such change here any more.', 'Set the variable with `/cdn variable`.');
    if (operation.requester.userId !== person.userId)
      throw new UserError(
        `Only <@${operation.requester.userId}> can undo this with a button.`,
        'Set the variable yourself with `/cdn variable`.',
      );
    if (!canUndo(operation, context.now()))
      throw new UserError(
        `It is too late to undo this (${renderState(operation.state).replace(/^:\w+: /u, '')}).`,
        'Set the variable with `/cdn variable`.',
      );
    const value = await operations.earlierValue(operationId);
    if (!value)
      throw new UserError(
        'The value before is not known here, or something else set the variable since.',
        'Set it with `/cdn variable`.',
      );
    await canAsk('variable-update', context);
    const { scriptId, variableId } = operation.request;
    return set({ scriptId, variableId, value, required: undefined }, `Undo of ${operation.id}`, context);
  },
};

export const variables: Feature = {
  name: 'variables',
  commands: [variableCommand],
  actions: [preview, undo],
  forms: [
    defineForm({ id: 'variables:submit', needs: 'change', fields, busy: forms.variableBusy, run: submit }),
  ],
};
