import { redactedValue } from '../../api/http/redact.ts';
import { getEnumName } from '../../api/zones/enums.ts';
import type { EdgeRule, EdgeRuleAction, EdgeRuleTrigger } from '../../api/zones/fields.ts';
import { escapeMrkdwn, formatCode } from '../blocks/text.ts';

/** One rule as a sentence: `redirect to `/new` (301) when any of: URL matches `/old/*``. */
export function renderEdgeRule(rule: EdgeRule): string {
  const does = [rule, ...rule.extraActions.slice(0, 3)].map(describeAction);
  const more = rule.extraActions.length - does.length + 1;
  const doing = (more > 0 ? [...does, `${more} more`] : does).join(', then ');
  const state = [rule.enabled === false ? 'off' : '', rule.readOnly === true ? 'read only' : ''].filter(
    Boolean,
  );
  const note = rule.description ? `“${escapeMrkdwn(rule.description, 80)}”: ` : '';
  return `${note}${doing} ${describeCondition(rule)}${state.length > 0 ? ` (${state.join(', ')})` : ''}`;
}

/** The action of a rule with its known parameters. Header values are never shown. */
function describeAction(act: EdgeRuleAction): string {
  const { actionParameter1: one, actionParameter2: two } = act;
  switch (act.actionType ?? -1) {
    case 1:
      return `redirect to ${formatCode(one ?? '')}${two ? ` (${escapeMrkdwn(two, 10)})` : ''}`;
    case 2:
      return `fetch from ${formatCode(one ?? '')}`;
    case 3:
      return `set the CDN’s cache time to ${formatTime(one)}`;
    case 4:
      return 'block the request';
    case 5:
      return `set the response header ${formatCode(one ?? '', 60)}`;
    case 6:
      return `set the request header ${formatCode(one ?? '', 60)}`;
    case 10:
      return `set the public cache time to ${formatTime(one)}`;
    case 16:
      return `set the browser’s cache time to ${formatTime(one)}`;
    case 14:
      return `answer with the status ${escapeMrkdwn(one ?? '', 10)}`;
    case 19:
      return `limit connections to ${escapeMrkdwn(one ?? '', 20)}`;
    case 20:
      return `limit requests a second to ${escapeMrkdwn(one ?? '', 20)}`;
    case 21:
      return `run the edge script ${escapeMrkdwn(one ?? '', 40)}`;
    case 22:
      return `fetch from the app ${escapeMrkdwn(one ?? '', 60)}`;
    case 17:
      return `fetch from the storage zone ${escapeMrkdwn(one ?? '', 40)}`;
    default:
      return [splitWords(getEnumName('EdgeRuleActionType', act.actionType)), ...listParameters(act)].join(
        ' ',
      );
  }
}

function listParameters({ actionParameter1, actionParameter2, actionParameter3 }: EdgeRuleAction): string[] {
  const given = [actionParameter1, actionParameter2, actionParameter3];
  return given.flatMap((parameter) => (parameter ? [formatPattern(parameter)] : []));
}

function describeCondition(rule: EdgeRule): string {
  if (rule.triggers.length === 0) return 'always';
  const shown = rule.triggers.slice(0, 5).map(describeTrigger);
  const more = rule.triggers.length - shown.length;
  const parts = more > 0 ? [...shown, `${more} more`] : shown;
  if (parts.length === 1) return rule.triggerMatchingType === 2 ? `unless ${parts[0]}` : `when ${parts[0]}`;
  switch (rule.triggerMatchingType ?? -1) {
    case 0:
      return `when ${parts.join(', or ')}`;
    case 1:
      return `when ${parts.join(', and ')}`;
    case 2:
      return `when none of these: ${parts.join('; ')}`;
    default:
      return `when ${getEnumName('TriggerMatchingTypes', rule.triggerMatchingType)}: ${parts.join('; ')}`;
  }
}

function describeTrigger({ type, patternMatches, patternMatchingType, parameter1 }: EdgeRuleTrigger): string {
  const what =
    splitWords(getEnumName('TriggerTypes', type)) + (parameter1 ? ` ${formatCode(parameter1, 60)}` : '');
  const shown = patternMatches.slice(0, 3).map(formatPattern);
  const more = patternMatches.length - shown.length;
  const parts = more > 0 ? [...shown, `${more} more`] : shown;
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

/** Values of headers and cookies are redacted by the API client: they may be passwords. */
function formatPattern(pattern: string): string {
  return pattern === redactedValue ? 'a value that is not shown' : formatCode(pattern, 80);
}

/** As sent: the specification gives no unit. */
function formatTime(value: string | undefined): string {
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
