import { redactedValue } from '../../api/zones/fields.ts';
import { getEnumName } from '../../api/zones/members.ts';
import { join, truncate } from '../blocks/text.ts';
import { splitWords } from './settings.ts';

/** Members by the service's names. */
interface EdgeRuleAction {
  readonly ActionType?: number;
  readonly ActionParameter1?: string;
  readonly ActionParameter2?: string;
  readonly ActionParameter3?: string;
}

interface EdgeRuleTrigger {
  readonly Type?: number;
  readonly PatternMatches?: readonly string[];
  readonly PatternMatchingType?: number;
  readonly Parameter1?: string;
}

/** A rule as it was read, or as a look stored it. */
export interface EdgeRule extends EdgeRuleAction {
  readonly Triggers?: readonly EdgeRuleTrigger[];
  readonly ExtraActions?: readonly EdgeRuleAction[];
  readonly TriggerMatchingType?: number;
  readonly Description?: string;
  readonly Enabled?: boolean;
  readonly ReadOnly?: boolean;
}

/** Its name, what it does and when: `Old pages`, `redirect to /new (301)`, `when URL is /old/*`. */
export function listEdgeRule(rule: EdgeRule, nth: number): [name: string, does: string, when: string] {
  const actions = limitParts([rule, ...(rule.ExtraActions ?? [])].map(describeAction), 4);
  const state = join([rule.Enabled === false && 'off', rule.ReadOnly && 'read only'], ', ');
  const name = rule.Description?.trim() || `Rule ${nth + 1}`;
  return [state ? `${name} (${state})` : name, actions.join(', then '), describeCondition(rule)];
}

/** Actions whose first parameter is the id of a thing. */
export const edgeRuleActions = { storage: 17, script: 21, app: 22 } as const;

/** The effect of an action with its parameters, by type, as plain text. Header values are never shown. */
const actionWords: Readonly<Record<number, (one: string, two: string) => string>> = {
  1: (to, status) => `redirect to ${to}${status && ` (${status})`}`,
  2: (origin) => `fetch from ${origin}`,
  3: (time) => `set the CDN’s cache time to ${formatTime(time)}`,
  4: () => 'block the request',
  5: (name) => `set the response header ${name}`,
  6: (name) => `set the request header ${name}`,
  10: (time) => `set the public cache time to ${formatTime(time)}`,
  14: (status) => `answer with the status ${status}`,
  16: (time) => `set the browser’s cache time to ${formatTime(time)}`,
  [edgeRuleActions.storage]: (id) => `fetch from the storage zone ${id}`,
  19: (limit) => `limit connections to ${limit}`,
  20: (limit) => `limit requests a second to ${limit}`,
  [edgeRuleActions.script]: (id) => `run the edge script ${id}`,
  [edgeRuleActions.app]: (id) => `fetch from the app ${id}`,
};

function describeAction(action: EdgeRuleAction): string {
  const { ActionType, ActionParameter1 = '', ActionParameter2 = '', ActionParameter3 = '' } = action;
  const describe = actionWords[ActionType ?? -1];
  if (describe) return describe(ActionParameter1, ActionParameter2);
  const parameters = [ActionParameter1, ActionParameter2, ActionParameter3].filter(Boolean);
  return [splitWords(getEnumName('EdgeRuleActionType', ActionType)), ...parameters.map(formatPattern)].join(
    ' ',
  );
}

function describeCondition({ Triggers, TriggerMatchingType }: EdgeRule): string {
  const [first, ...others] = limitParts((Triggers ?? []).map(describeTrigger), 5);
  if (first === undefined) return 'always';
  if (others.length === 0) return TriggerMatchingType === 2 ? `unless ${first}` : `when ${first}`;
  const parts = [first, ...others];
  switch (TriggerMatchingType ?? -1) {
    case 0:
      return `when ${parts.join(', or ')}`;
    case 1:
      return `when ${parts.join(', and ')}`;
    case 2:
      return `when none of these: ${parts.join('; ')}`;
    default:
      return `when ${getEnumName('TriggerMatchingTypes', TriggerMatchingType)}: ${parts.join('; ')}`;
  }
}

function describeTrigger({ Type, PatternMatches, PatternMatchingType, Parameter1 }: EdgeRuleTrigger): string {
  const what = splitWords(getEnumName('TriggerTypes', Type)) + (Parameter1 ? ` ${Parameter1}` : '');
  const parts = limitParts((PatternMatches ?? []).map(formatPattern), 3);
  if (parts.length === 0) return what;
  switch (PatternMatchingType ?? -1) {
    case 0:
      return `${what} is ${parts.join(' or ')}`;
    case 1:
      return `${what} is ${parts.length > 1 ? 'all of ' : ''}${parts.join(' and ')}`;
    case 2:
      return `${what} is ${parts.length > 1 ? 'neither ' : 'not '}${parts.join(' nor ')}`;
    default:
      return `${what} ${getEnumName('PatternMatchingTypes', PatternMatchingType)}: ${parts.join(', ')}`;
  }
}

function limitParts(parts: readonly string[], most: number): string[] {
  const more = parts.length - most;
  return more > 0 ? [...parts.slice(0, most), `${more} more`] : [...parts];
}

/** Values of headers and cookies are redacted by the API client: they may be passwords. */
function formatPattern(pattern: string): string {
  return pattern === redactedValue ? 'a value that is not shown' : truncate(pattern, 80) || '(empty)';
}

/** As sent: the specification gives no unit. */
function formatTime(value: string): string {
  return value || 'a time not reported';
}
