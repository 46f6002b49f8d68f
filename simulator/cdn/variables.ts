import { type Answer, type Call, coreError, jsonAnswer, parseObject } from './answer.ts';
import { canary } from './canaries.ts';
import type { CdnData, Script } from './model.ts';

/** Ids of the generated scripts. */
export const scriptIds = { storefront: 301, abTests: 302 } as const;

/** Two scripts; people put keys into variables, so one value is a planted secret. */
export function generateScripts(): Script[] {
  return [
    {
      Id: scriptIds.storefront,
      variables: [
        { Id: 12, Name: 'FEATURE_X', Required: false, DefaultValue: 'on' },
        { Id: 13, Name: 'PAYMENT_TOKEN', Required: true, DefaultValue: canary('variable-value', 13) },
      ],
    },
    { Id: scriptIds.abTests, variables: [{ Id: 21, Name: 'SPLIT', Required: false, DefaultValue: '50' }] },
  ];
}

const valueLimit = 4096;

/**
 * Update Variable: a partial update. Members that are absent or null stay as they were, unknown ones are ignored.
 * 404 in the compute shape for an unknown script or variable; 400 for a body that is no object, a wrong type, or a value
 * of more than 4096 characters; 415 for another content type.
 */
export function updateVariable(call: Call, data: CdnData): Answer {
  const [scriptId, variableId] = call.params;
  const script = data.scripts.find((script) => String(script.Id) === scriptId);
  const variable = script?.variables.find((variable) => String(variable.Id) === variableId);
  if (!script) return coreError(404, 'not_found', 'Script not found');
  if (!variable) return coreError(404, 'not_found', 'Variable not found');
  if (!/^application\/json\b/i.test(call.contentType)) {
    return coreError(415, 'unsupported_media_type', 'The request body must be application/json.');
  }
  const changes = parseObject(call.body);
  if (!changes) return coreError(400, 'validation_error', 'The request body is not a JSON object.');
  const value = changes['DefaultValue'] ?? variable.DefaultValue;
  const required = changes['Required'] ?? variable.Required;
  if (typeof value !== 'string') {
    return coreError(400, 'validation_error', 'DefaultValue must be a string.', 'DefaultValue');
  }
  if (value.length > valueLimit) {
    return coreError(
      400,
      'validation_error',
      `DefaultValue is longer than ${valueLimit} characters.`,
      'DefaultValue',
    );
  }
  if (typeof required !== 'boolean') {
    return coreError(400, 'validation_error', 'Required must be true or false.', 'Required');
  }
  variable.DefaultValue = value;
  variable.Required = required;
  return jsonAnswer({ Id: variable.Id, Name: variable.Name, Required: required, DefaultValue: value });
}
