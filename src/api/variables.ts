import { z } from 'zod';
import { UserError } from '../errors.ts';
import { canonicalJson, type Json } from '../lib/canonical-json.ts';
import { Secret } from '../secrets/secret.ts';
import { flag, id, omitMissing, readConfirmation, text } from './http/lenient.ts';
import { checkNumericId, createNumericKind, pathOf } from './http/paths.ts';
import type { Send } from './http/request.ts';

const maxValueLength = 4096;
const answer = z.object({ Id: id.nullish(), Name: text, Required: flag, DefaultValue: text });

/** The path of a variable, in its sealed and sent form. @throws UserError for an invalid id. */
export function variablePath(scriptId: string, variableId: string): string {
  const script = checkNumericId(scriptId, 'int64', createNumericKind('script ID', 301));
  const variable = checkNumericId(variableId, 'int64', createNumericKind('variable ID', 12));
  return pathOf('compute', 'script', script, 'variables', variable);
}

/** The sealed body of a change: all but the value. @throws UserError for an empty change or a value that is too long */
export function variableBody(change: { value?: Secret | undefined; required?: boolean | undefined }): string {
  const { value, required } = change;
  const hint = 'Give a new value, or say whether the variable is required.';
  if (value === undefined && required === undefined) throw new UserError('Nothing would change.', hint);
  const length = value?.reveal().length ?? 0;
  if (length > maxValueLength)
    throw new UserError(`The value has ${length} characters.`, `A variable holds at most ${maxValueLength}.`);
  return canonicalJson({ Required: required });
}

export function createVariables(send: Send) {
  return {
    /** Sent once, unless 429 asks for a pause, to a path of `variablePath` with a body of `variableBody`. */
    async update(path: string, body: string, value?: Secret) {
      const request = {
        operation: 'Update Variable',
        method: 'POST',
        path,
        body: value
          ? canonicalJson({ ...(JSON.parse(body) as Record<string, Json>), DefaultValue: value.reveal() })
          : body,
        secrets: value ? [value] : [],
      } as const;
      return send(request, async (reply) => {
        const read = readConfirmation(reply, await reply.json(), answer, 'change');
        const { Id, Name, Required, DefaultValue } = read;
        const defaultValue =
          typeof DefaultValue === 'string' ? new Secret(DefaultValue, 'variable-value') : null;
        const { requestId } = reply;
        return omitMissing({ id: Id, name: Name, required: Required, defaultValue, requestId });
      });
    },
  };
}
