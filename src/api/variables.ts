import { z } from 'zod';
import { UserError } from '../errors.ts';
import { Secret } from '../secrets/secret.ts';
import { type Drift, flag, id, parseAnswer, text } from './http/lenient.ts';
import { address, type Hosts, numericId } from './http/paths.ts';
import type { Send } from './http/request.ts';

/** What changes; a member that is left out stays as it is. */
export interface VariableChange {
  /** At most 4096 characters; the service may allow fewer. */
  readonly defaultValue?: Secret;
  readonly required?: boolean;
}

/** The variable as the service now has it. Absent: not reported. */
export interface Variable {
  readonly id: string;
  readonly name?: string;
  readonly required?: boolean;
  readonly defaultValue?: Secret;
  /** Of the request that set it. */
  readonly requestId?: string;
}

/** Update Variable (cdn-api.md §2.3). */
export interface Variables {
  /** Throws a UserError for a bad id, an empty change or a value that is too long. Sent at most once, whatever the answer. */
  readonly update: (scriptId: string, variableId: string, change: VariableChange) => Promise<Variable>;
}

const longestValue = 4096;
const answer = z.object({ Id: id.nullish(), Name: text, Required: flag, DefaultValue: text });

export function createVariables(send: Send, hosts: Hosts, onDrift: (drift: Drift) => void): Variables {
  return {
    async update(scriptId, variableId, { defaultValue, required }) {
      const script = numericId(scriptId, 'int64', {
        noun: 'a script id',
        hint: 'A script id is a whole number, such as 301.',
      });
      const variable = numericId(variableId, 'int64', {
        noun: 'a variable id',
        hint: 'A variable id is a whole number, such as 12.',
      });
      if (defaultValue === undefined && required === undefined) {
        throw new UserError(
          'Nothing would change.',
          'Give a new value, or say whether the variable is required.',
        );
      }
      const length = defaultValue?.reveal().length ?? 0;
      if (length > longestValue) {
        throw new UserError(
          `The value has ${length} characters.`,
          `A variable holds at most ${longestValue}.`,
        );
      }
      const operation = 'Update Variable';
      const request = {
        operation,
        method: 'POST',
        address: address(hosts.api, 'compute', 'script', script, 'variables', variable),
        // Members that do not change are left out: what null would mean is not specified.
        body: JSON.stringify({ DefaultValue: defaultValue?.reveal(), Required: required }),
        secrets: defaultValue ? [defaultValue] : [],
        reads: false,
        once: true,
      } as const;
      return send(request, async (reply): Promise<Variable> => {
        const body = await reply.json();
        // Done, without a word about it.
        const about = reply.requestId === undefined ? {} : { requestId: reply.requestId };
        if (body === undefined) return { id: variable, ...about };
        const { Name, Required, DefaultValue } = parseAnswer(reply, body, answer, operation, onDrift);
        return {
          id: variable,
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
