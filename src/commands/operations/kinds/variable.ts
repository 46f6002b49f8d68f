import { z } from 'zod';
import type { CdnClient } from '../../../api/cdn.ts';
import { isObject } from '../../../api/http/errors.ts';
import { variableBody, variablePath } from '../../../api/variables.ts';
import { tenantId } from '../../../auth/identity.ts';
import type { Json } from '../../../lib/canonical-json.ts';
import { Secret } from '../../../secrets/secret.ts';
import { formatCount, formatInteger } from '../../../views/blocks/format.ts';
import { formatCode, join } from '../../../views/blocks/text.ts';
import { describeScriptConsequences } from '../../../views/operations/describe.ts';
import type { Context } from '../../define.ts';
import { loadAffectedByScript } from '../../zones/lookup.ts';
import { findNamedTargets } from '../model.ts';
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
      case 'unconfirmed':
        return `Accepted, not confirmed: the CDN took the change, but its answer does not show ${nameVariable(request, name)} as it was asked for. Check it in the CDN’s panel.`;
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
    look: 'The CDN has no operation that reads a variable: look in its panel, at the script’s variables.',
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

export function readVariablePath(path: string) {
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
