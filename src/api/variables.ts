import { z } from 'zod';
import { UserError } from '../errors.ts';
import { canonicalJson, type Json } from '../lib/canonical-json.ts';
import { Secret } from '../secrets/secret.ts';
import { type Drift, flag, id, parseAnswer, text } from './http/lenient.ts';
import { checkNumericId, type Hosts, pathOf } from './http/paths.ts';
import type { Send } from './http/request.ts';

/** Members that change; the others stay as they are. */
export interface VariableChange {
  /** At most 4096 characters; the service may allow fewer. */
  readonly value?: Secret | undefined;
  readonly required?: boolean | undefined;
}

/** The variable after the change. Absent: not reported. */
export interface Variable {
  readonly name?: string;
  readonly required?: boolean;
  readonly defaultValue?: Secret;
  /** The service's id of the request. */
  readonly requestId?: string;
}

/** Update Variable. */
export interface Variables {
  /** Sent at most once, whatever the answer, to a path of `variablePath` with a body of `variableBody`. */
  readonly update: (path: string, body: string, value?: Secret) => Promise<Variable>;
}

const maxValueLength = 4096;
const answer = z.object({ Id: id.nullish(), Name: text, Required: flag, DefaultValue: text });

/** The path of a variable, as it is sealed and sent. @throws UserError for an id that cannot be one. */
export function variablePath(scriptId: string, variableId: string): string {
  const script = checkNumericId(scriptId, 'int64', {
    noun: 'a script id',
    hint: 'A script id is a whole number, such as 301.',
  });
  const variable = checkNumericId(variableId, 'int64', {
    noun: 'a variable id',
    hint: 'A variable id is a whole number, such as 12.',
  });
  return pathOf('compute', 'script', script, 'variables', variable);
}

/**
 * The body of a change as it is sealed: all but the value. Members that do not change are left out: what null would
 * mean is not specified.
 *
 * @throws UserError for an empty change or a value that is too long.
 */
export function variableBody({ value, required }: VariableChange): string {
  if (value === undefined && required === undefined)
    throw new UserError(
      'Nothing would change.',
      'Give a new value, or say whether the variable is required.',
    );
  const length = value?.reveal().length ?? 0;
  if (length > maxValueLength)
    throw new UserError(`The value has ${length} characters.`, `A variable holds at most ${maxValueLength}.`);
  return canonicalJson({ Required: required });
}

export function createVariables(send: Send, hosts: Hosts, onDrift: (drift: Drift) => void): Variables {
  return {
    async update(path, body, value) {
      const operation = 'Update Variable';
      const request = {
        operation,
        method: 'POST',
        address: hosts.api + path,
        body: value ? withValue(body, value) : body,
        secrets: value ? [value] : [],
        isRead: false,
        neverRetry: true,
      } as const;
      return send(request, async (reply): Promise<Variable> => {
        const answered = await reply.json();
        // Success without a body.
        const about = reply.requestId === undefined ? {} : { requestId: reply.requestId };
        if (answered === undefined) return about;
        const { Name, Required, DefaultValue } = parseAnswer(reply, answered, answer, operation, onDrift);
        return {
          ...about,
          ...(typeof Name === 'string' ? { name: Name } : {}),
          ...(typeof Required === 'boolean' ? { required: Required } : {}),
          ...(typeof DefaultValue === 'string'
            ? { defaultValue: new Secret(DefaultValue, 'variable-value') }
            : {}),
        };
      });
    },
  };
}

function withValue(body: string, value: Secret): string {
  return canonicalJson({ ...(JSON.parse(body) as Record<string, Json>), DefaultValue: value.reveal() });
}
