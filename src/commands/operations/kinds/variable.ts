import { z } from 'zod';
import type { CdnClient } from '../../../api/cdn.ts';
import { isObject } from '../../../api/http/errors.ts';
import { omitMissing } from '../../../api/http/lenient.ts';
import { variableBody, variablePath } from '../../../api/variables.ts';
import { tenantId } from '../../../auth/identity.ts';
import { UserError } from '../../../errors.ts';
import type { Json } from '../../../lib/canonical-json.ts';
import { trimZeros } from '../../../lib/names.ts';
import { Secret } from '../../../secrets/secret.ts';
import { type FormResult, section } from '../../../views/blocks/blocks.ts';
import { addFailure } from '../../../views/blocks/failure.ts';
import { formatCount, formatInteger } from '../../../views/blocks/format.ts';
import { modal } from '../../../views/blocks/inputs.ts';
import { formatCode, join } from '../../../views/blocks/text.ts';
import { renderProposed, renderUndoOffer } from '../../../views/operations/approvals.ts';
import {
  describeOutcome,
  describeScriptConsequences,
  renderSent,
} from '../../../views/operations/describe.ts';
import * as forms from '../../../views/operations/forms.ts';
import { type Action, type Command, type Context, defineForm, type Feature } from '../../define.ts';
import { rememberUse, resolveFirst } from '../../names.ts';
import { loadAffectedByScript } from '../../zones/lookup.ts';
import {
  findNamedTargets,
  findOperation,
  findRequestedBy,
  findTargetName,
  type Operation,
} from '../model.ts';
import { assertMayPropose, findApprovalNeeds, proposeChange } from '../propose.ts';
import { findUndo, isValueKept } from '../values.ts';
import { type Execution, findUndone, type Kind, readShown, type Settlement } from './kind.ts';

export interface VariableRequest {
  readonly scriptId: string;
  readonly variableId: string;
  readonly required: boolean | undefined;
  readonly setsValue: boolean;
}

export const variableUpdate = {
  name: 'variable-update',
  right: 'change',

  parse({ path, body, setsValue }) {
    return { ...readVariablePath(path), required: readRequired(body), setsValue };
  },
  request({ scriptId, variableId, required, setsValue }, value = setsValue ? new Secret('') : undefined) {
    const body = variableBody({ required, value });
    return { method: 'POST', path: variablePath(scriptId, variableId), body };
  },

  consequences(snapshot) {
    const shown = readShown(snapshot);
    return { text: describeScriptConsequences(shown), zones: shown };
  },

  describe(request, { name, snapshot }) {
    const { setsValue, required } = request;
    if (findUndone(snapshot)) return `restore the previous value of ${nameVariable(request, name)}`;
    const parts = [
      setsValue && describeValue(snapshot),
      required !== undefined && (required ? 'now required' : 'no longer required'),
    ];
    return `set ${nameVariable(request, name)}: ${join(parts, ', ')}`;
  },
  describeOutcome({ word, facts }, request, { name, snapshot }) {
    const { setsValue, required } = request;
    switch (word) {
      case 'done': {
        if (findUndone(snapshot)) return `Restored the previous value of ${nameVariable(request, name)}.`;
        const isRequired = facts?.['required'];
        const unchanged = isRequired !== undefined && (isRequired === true ? 'required' : 'not required');
        const changed = required ? 'now required' : 'no longer required';
        const parts = [setsValue && 'set', required === undefined ? unchanged : changed];
        return `${nameVariable(request, name).replace(/^v/u, 'V')} is ${join(parts, ' and ')}.`;
      }
      case 'unconfirmed': {
        const shown = facts?.['name'] ?? name;
        const other =
          typeof shown === 'string' && shown !== name ? `It shows ${formatCode(shown, 60)}. ` : '';
        return `Accepted, not confirmed: the CDN took the change, but its answer does not show ${nameVariable(request, name)} as requested. ${other}Check it in the CDN’s control panel.`;
      }
      case 'not-found':
        return 'Nothing was changed: the CDN does not know this script or variable. Check both IDs.';
      case 'differs': {
        const value = facts?.['otherValue'] === true && 'another value';
        const rule =
          facts?.['otherRule'] === true && `it as ${facts['required'] === true ? '' : 'not '}required`;
        const id = facts?.['otherId'] === true && 'another variable';
        return `The CDN took the change, but reports ${join([id, value, rule], ' and ')}. *It is not retried automatically.* Check what is set, then record it here.`;
      }
      default:
        return undefined;
    }
  },
  again: ({ scriptId, variableId }) => `variable ${scriptId} ${variableId}`,
  check: {
    done: 'The variable has the new value',
    notDone: 'The variable is as it was',
    look: 'The CDN’s API cannot read variables: check the script’s variables in the CDN’s control panel.',
  },

  audit: ({ scriptId: script, variableId: variable, required, setsValue }, { name }) => {
    return { script, variable, name, required, setsValue };
  },

  async send(execution) {
    const { path, body, value, cdn } = execution;
    return judge(await cdn().variables.update(path, body ?? '{}', value), execution);
  },
} satisfies Kind<VariableRequest>;

/** The zones that run the script now, and the variable's name if the CDN has told it. */
export async function loadVariable({ scriptId, variableId }: VariableRequest, context: Context) {
  const path = variablePath(scriptId, variableId);
  const [named] = await findNamedTargets(context.ledger, { tenant: tenantId(context.person), path });
  return { ...(await loadAffectedByScript(scriptId, context)), ...(named ? { name: named.name } : {}) };
}

function readVariablePath(path: string) {
  const [, , , scriptId = '', , variableId = ''] = path.split('/').map(decodeURIComponent);
  return { scriptId, variableId };
}

const bodies = z.object({ Required: z.boolean().optional() });

/** Bytes of a value up to which all pages of the CDN agree. */
const safeBytes = 2_048;

function describeValue(snapshot: Json): string {
  const bytes = isObject(snapshot) ? Number(snapshot['bytes'] ?? 0) : 0;
  return bytes > safeBytes
    ? `a new value of ${formatCount(bytes, 'byte')} (above ${formatInteger(safeBytes)} the CDN may refuse it)`
    : 'a new value';
}

function readRequired(body: string | null): boolean | undefined {
  return bodies.parse(JSON.parse(body ?? '')).Required;
}

function nameVariable({ scriptId, variableId }: VariableRequest, name: string | undefined): string {
  const id = formatCode(variableId, 30);
  return `${name ? `${formatCode(name, 60)} (${id})` : `variable ${id}`} of script ${formatCode(scriptId, 30)}`;
}

type Answered = Awaited<ReturnType<CdnClient['variables']['update']>>;

/** `done` only where the answer shows the variable with everything that was changed; `differs` where it contradicts. */
function judge(
  { id, name, required, defaultValue, requestId }: Answered,
  { path, body, value, targetName }: Execution,
): Settlement {
  const wanted = readRequired(body);
  const otherId = id !== undefined && id !== path.split('/').at(-1);
  const otherValue =
    value !== undefined && defaultValue !== undefined && defaultValue?.reveal() !== value.reveal();
  const otherRule = wanted !== undefined && required !== undefined && required !== wanted;
  const facts = { name: otherId ? undefined : name?.slice(0, 100), required, otherValue, otherRule, otherId };
  if (otherId || otherValue || otherRule)
    return { state: 'unknown', outcome: { word: 'differs', requestId, facts } };
  const isShown =
    id !== undefined &&
    name !== undefined &&
    (targetName === undefined || name.slice(0, 100) === targetName) &&
    (value === undefined || defaultValue !== undefined) &&
    (wanted === undefined || required !== undefined);
  return { state: 'succeeded', outcome: { word: isShown ? 'done' : 'unconfirmed', requestId, facts } };
}

const variableCommand: Command = {
  name: 'variable',
  aliases: ['variables', 'var'],
  usage: 'variable [<scriptId> <variableId>|<name>|undo]',
  summary: 'Set a variable of an edge script: its value, and whether it is required',
  label: 'Set a variable',
  examples: ['variable', 'variable 301 12', 'variable FEATURE_X', 'variable undo'],
  needs: 'change',
  modal: ({ text }) => (/^undo$/iu.test(text) ? undefined : forms.variableBusy),
  async load(words, context) {
    const [first] = words.list;
    if (first === undefined) return forms.renderVariableForm({});
    const variables = { tenant: tenantId(context.person), kind: variableUpdate.name };
    const targets = await findNamedTargets(context.ledger, variables);
    // The newest name of a variable counts; case does, too.
    const names = new Map(targets.toReversed().map(({ path, name }) => [path, name]));
    const find = (called: string, ofScript?: string) => {
      const ids = [...names].flatMap(([path, name]) => (name === called ? readVariablePath(path) : []));
      const found = ids.filter(({ scriptId }) => ofScript === undefined || scriptId === ofScript);
      if (found.length <= 1) return found[0];
      const several = found.slice(0, 4).map((one) => `\`/cdn variable ${one.scriptId} ${one.variableId}\``);
      throw new UserError(
        `Several variables are called ${formatCode(called, 60)}.`,
        `Type the IDs of the one you mean: ${join(several, ' or ')}.`,
      );
    };
    const named = find(first);
    const { id: scriptId, others } = named
      ? { id: named.scriptId, others: words.list.slice(1) }
      : await resolveFirst('script', words.list, context, words.quoted?.[0]);
    const [variable] = others;
    if (others.length > (named ? 0 : 1))
      throw new UserError(
        'Don’t type values into the command: others could read them.',
        'Type `/cdn variable` with the two IDs, or alone; the form takes the value.',
      );
    if (!scriptIdField.safeParse(scriptId).success) return forms.renderVariableForm({ unknown: first });
    const isName = variable !== undefined && /^[a-z_]\w*$/iu.test(variable);
    const variableId = named?.variableId ?? (isName ? find(variable, scriptId)?.variableId : variable);
    if (variableId === undefined && isName) return forms.renderVariableForm({ scriptId, unknown: variable });
    const ids = { scriptId, variableId };
    return forms.renderVariableForm(ids, await loadKnown(ids, context));
  },
  async run(_, context) {
    for (const operation of await findRequestedBy(context.ledger, context.person, mostSearched))
      if (await canRestore(operation, context)) return renderUndoOffer(operation);
    throw new UserError(
      'Nothing to undo: none of your changes in the last 30 minutes has a stored previous value.',
      'Set a variable with `/cdn variable`.',
    );
  },
};

/** What an assistant asked a person to type. In the metadata of the form. */
const askedFor = z.object({ path: z.string(), via: z.string(), reason: z.string() });
type AskedFor = z.output<typeof askedFor>;

export function writeFormButton(request: VariableRequest, { via, reason }: Omit<AskedFor, 'path'>): string {
  const { scriptId, variableId, required = 'unchanged' } = request;
  const path = variablePath(scriptId, variableId);
  // A character that JSON escapes would take six.
  const asked = { path, via, reason: reason.replaceAll(/\p{Cc}/gu, ' ').toWellFormed() };
  return `${scriptId} ${variableId} ${required} ${JSON.stringify(asked)}`;
}

/** Opens the form that an assistant asked for. */
const typeAction: Action = {
  id: 'variables:type',
  needs: 'change',
  modal: () => forms.variableBusy,
  async load(value, context) {
    const [scriptId = '', variableId = '', required, ...asked] = value.split(' ');
    const known = await loadKnown({ scriptId, variableId }, context);
    return forms.renderVariableForm({ scriptId, variableId, required, metadata: asked.join(' ') }, known);
  },
};

async function loadKnown(
  { scriptId, variableId }: { readonly scriptId: string; readonly variableId: string | undefined },
  context: Context,
): Promise<forms.KnownVariable> {
  const { ledger, person } = context;
  const request = variableId && { scriptId, variableId, required: undefined, setsValue: true };
  const [snapshot, needs, named] = await Promise.all([
    request ? loadVariable(request, context) : loadAffectedByScript(scriptId, context),
    findApprovalNeeds(variableUpdate, context),
    context.names.find(person, 'script', scriptId),
  ]);
  const path = variableId && variablePath(scriptId, variableId);
  return {
    name: findTargetName(snapshot, undefined),
    named,
    consequences: variableUpdate.consequences(snapshot),
    needs,
    canUndo: path ? await isValueKept(ledger, tenantId(person), path) : false,
  };
}

const id = (noun: string) =>
  z
    .string({ error: `Type the ${noun}.` })
    .trim()
    .regex(/^\d{1,19}$/, { error: `The ${noun} is a whole number.`, abort: true })
    .refine((value) => BigInt(value) < 2n ** 63n, { error: 'That is too large for an ID.' })
    .transform(trimZeros);
const scriptIdField = id('script ID');

const required = z
  .enum(['unchanged', 'true', 'false'], { error: 'Pick one of the three.' })
  .default('unchanged')
  .transform((value) => (value === 'unchanged' ? undefined : value === 'true'));

const valueField = (max: number) =>
  z
    .string()
    .max(max, `At most ${formatCount(max, 'character')} here.`)
    .optional();

const curlyQuotes =
  'It has curly quotes (“ ” ‘ ’), which phones insert. Type straight ones, or tick below to keep these.';

const fields = z
  .object({
    scriptId: scriptIdField,
    variableId: id('variable ID'),
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
    if (isEmptied && typed) refuse('empty', 'There is a new value above. Remove one of them.');
    if (!isEmptied && !typed && rest.required === undefined)
      refuse('defaultValue', 'Nothing would change. Type a new value, or pick below.');
    for (const [path, text] of Object.entries({ defaultValue, moreValue }))
      if (/[“”„‟‘’‚‛]/u.test(text) && !empty?.includes('curly')) refuse(path, curlyQuotes);
    const value = isEmptied ? '' : typed || undefined;
    return { ...rest, value: value === undefined ? undefined : new Secret(value, 'variable-value') };
  });
type Values = z.output<typeof fields>;

async function submit(values: Values, context: Context): Promise<FormResult> {
  const { scriptId, variableId, required, value } = values;
  const request = { scriptId, variableId, required, setsValue: value !== undefined };
  const metadata = context.modal?.metadata;
  const asked = metadata ? askedFor.parse(JSON.parse(metadata)) : undefined;
  const isAsked = asked?.path === variablePath(scriptId, variableId);
  const operation = await setVariable(request, value, isAsked ? asked : {}, context);
  await rememberUse('script', scriptId, context);
  // The value does not stay: a secret is not sent back.
  if (operation.outcome?.word === 'refused')
    return addFailure(
      forms.renderVariableForm({ scriptId, variableId, required: required?.toString(), metadata }),
      { message: describeOutcome(operation) },
    );
  const message = renderProposed(operation, await canRestore(operation, context));
  return { modal: renderSent(message), message };
}

async function setVariable(
  request: VariableRequest,
  value: Secret | undefined,
  { undoOf, reason, via }: { readonly undoOf?: string } & Partial<AskedFor>,
  context: Context,
): Promise<Operation> {
  const [snapshot, { policy, approvers }] = await Promise.all([
    loadVariable(request, context),
    findApprovalNeeds(variableUpdate, context),
  ]);
  const bytes = value && Buffer.byteLength(value.reveal());
  const facts = isObject(snapshot) ? omitMissing({ ...snapshot, undoOf, bytes }) : snapshot;
  const change = { kind: variableUpdate, request, value, reason, via, snapshot: facts };
  return proposeChange({ ...change, isConfirmed: via !== undefined, policy, approvers }, context);
}

async function canRestore(operation: Operation, { ledger }: Context): Promise<boolean> {
  return typeof (await findUndo(ledger, operation)) !== 'string';
}

const previewAction: Action = {
  id: 'variables:preview',
  needs: 'change',
  modal: () => forms.variableBusy,
  async load(_, context) {
    const scriptId = scriptIdField.safeParse(context.modal?.fields['scriptId']).data;
    if (scriptId === undefined) throw new UserError('No script ID yet.', 'Go back, type it and try again.');
    const affected = await loadAffectedByScript(scriptId, context);
    return modal({ title: 'Who runs it', close: 'Back' }, [section(describeScriptConsequences(affected))]);
  },
};

const mostSearched = 20;

const whyNoUndo = {
  late: 'It is too late to undo this: 30 minutes have passed, or it was undone or set again since.',
  unknown: 'The previous value is not stored, so this cannot be undone.',
};

const undoAction: Action = {
  id: 'variables:undo',
  needs: 'change',
  newMessage: true,
  replacesModal: true,
  async run(operationId, context) {
    const { ledger, person } = context;
    const operation = await findOperation(ledger, tenantId(person), operationId);
    const hint = 'Set the variable with `/cdn variable`.';
    if (operation?.kind !== variableUpdate || operation.request === undefined)
      throw new UserError('This change is no longer stored.', hint);
    if (operation.requester.userId !== person.userId)
      throw new UserError(`Only <@${operation.requester.userId}> can undo this with a button.`, hint);
    const previous = await findUndo(ledger, operation);
    if (typeof previous === 'string') throw new UserError(whyNoUndo[previous], hint);
    await assertMayPropose(variableUpdate, context);
    const ids = readVariablePath(operation.row.path);
    const change = { ...ids, required: undefined, setsValue: true };
    return renderProposed(await setVariable(change, previous.value, { undoOf: operation.id }, context));
  },
};

export const variables: Feature = {
  name: 'variables',
  commands: [variableCommand],
  actions: [previewAction, undoAction, typeAction],
  forms: [
    defineForm({
      id: 'variables:submit',
      needs: 'change',
      fields,
      loadingView: forms.variableBusy,
      secretFields: ['defaultValue', 'moreValue'],
      again: ({ scriptId = '', variableId = '' }) => [
        'help:run',
        ['variable', scriptId, variableId].flat().join(' '),
      ],
      run: submit,
    }),
  ],
};
