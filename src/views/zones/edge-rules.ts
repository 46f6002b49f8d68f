import { getEnumName } from '../../api/zones/enums.ts';
import {
  type EdgeRule,
  type EdgeRuleAction,
  type EdgeRuleTrigger,
  redactedValue,
} from '../../api/zones/fields.ts';
import { escapeMrkdwn, formatCode, join } from '../blocks/text.ts';

/** One rule as a sentence: `redirect to `/new` (301) when any of: URL matches `/old/*``. */
export function renderEdgeRule(rule: EdgeRule): string {
  const actions = limitParts([rule, ...rule.extraActions].map(describeAction), 4);
  const state = join([rule.enabled === false && 'off', rule.readOnly && 'read only'], ', ');
  const note = rule.description ? `“${escapeMrkdwn(rule.description, 80)}”: ` : '';
  return `${note}${actions.join(', then ')} ${describeCondition(rule)}${state && ` (${state})`}`;
}

/** The effect of an action with its parameters, by type. Header values are never shown. */
const actionWords: Readonly<Record<number, (one: string, two: string) => string>> = {
  1: (to, status) => `redirect to ${formatCode(to)}${status && ` (${escapeMrkdwn(status, 10)})`}`,
  2: (origin) => `fetch from ${formatCode(origin)}`,
  3: (time) => `set the CDN’s cache time to ${formatTime(time)}`,
  4: () => 'block the request',
  5: (name) => `set the response header ${formatCode(name, 60)}`,
  6: (name) => `set the request header ${formatCode(name, 60)}`,
  10: (time) => `set the public cache time to ${formatTime(time)}`,
  14: (status) => `answer with the status ${escapeMrkdwn(status, 10)}`,
  16: (time) => `set the browser’s cache time to ${formatTime(time)}`,
  17: (id) => `fetch from the storage zone ${escapeMrkdwn(id, 40)}`,
  19: (limit) => `limit connections to ${escapeMrkdwn(limit, 20)}`,
  20: (limit) => `limit requests a second to ${escapeMrkdwn(limit, 20)}`,
  21: (id) => `run the edge script ${escapeMrkdwn(id, 40)}`,
  22: (id) => `fetch from the app ${escapeMrkdwn(id, 60)}`,
};

function describeAction(action: EdgeRuleAction): string {
  const { actionType, actionParameter1 = '', actionParameter2 = '', actionParameter3 = '' } = action;
  const describe = actionWords[actionType ?? -1];
  if (describe) return describe(actionParameter1, actionParameter2);
  const parameters = [actionParameter1, actionParameter2, actionParameter3].filter(Boolean);
  return [splitWords(getEnumName('EdgeRuleActionType', actionType)), ...parameters.map(formatPattern)].join(
    ' ',
  );
}

function describeCondition({ triggers, triggerMatchingType }: EdgeRule): string {
  const [first, ...others] = limitParts(triggers.map(describeTrigger), 5);
  if (first === undefined) return 'always';
  if (others.length === 0) return triggerMatchingType === 2 ? `unless ${first}` : `when ${first}`;
  const parts = [first, ...others];
  switch (triggerMatchingType ?? -1) {
    case 0:
      return `when ${parts.join(', or ')}`;
    case 1:
      return `when ${parts.join(', and ')}`;
    case 2:
      return `when none of these: ${parts.join('; ')}`;
    default:
      return `when ${getEnumName('TriggerMatchingTypes', triggerMatchingType)}: ${parts.join('; ')}`;
  }
}

function describeTrigger({ type, patternMatches, patternMatchingType, parameter1 }: EdgeRuleTrigger): string {
  const what =
    splitWords(getEnumName('TriggerTypes', type)) + (parameter1 ? ` ${formatCode(parameter1, 60)}` : '');
  const parts = limitParts(patternMatches.map(formatPattern), 3);
  if (parts.length === 0) return what;
  switch (patternMatchingType ?? -1) {
    case 0:
      return `${what} is ${parts.join(' or ')}`;
    case 1:
      return `${what} is ${parts.length > 1 ? 'all of ' : ''}${parts.join(' and ')}`;
    case 2:
      return `${what} is ${parts.length > 1 ? 'neither ' : 'not '}${parts.join(' nor ')}`;
    default:
      return `${what} ${getEnumName('PatternMatchingTypes', patternMatchingType)}: ${parts.join(', ')}`;
  }
}

function limitParts(parts: readonly string[], most: number): string[] {
  const more = parts.length - most;
  return more > 0 ? [...parts.slice(0, most), `${more} more`] : [...parts];
}

/** Values of headers and cookies are redacted by the API client: they may be passwords. */
function formatPattern(pattern: string): string {
  return pattern === redactedValue ? 'a value that is not shown' : formatCode(pattern, 80);
}

/** As sent: the specification gives no unit. */
function formatTime(value: string): string {
  return escapeMrkdwn(value || 'a time not reported', 20);
}

/** `EnableTokenAuthentication` → `enable token authentication`, `RemoteIP` → `remote IP`. */
function splitWords(name: string): string {
  return name
    .replace(/(?<=[a-z\d])(?=[A-Z])/gu, ' ')
    .split(' ')
    .map((word) =>
      /^(?:Url|Aws)$/u.test(word) ? word.toUpperCase() : /^[A-Z]{2,}/u.test(word) ? word : word.toLowerCase(),
    )
    .join(' ');
}
