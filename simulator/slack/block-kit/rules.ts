import type { Json } from '../world.ts';
import { isObject } from '../world.ts';

export type Surface = 'message' | 'modal' | 'home' | 'suggestion';

/** Collects the findings of one payload. Slack refuses what `refuse` gets; `advise` is this project's own rule. */
export interface Report {
  readonly surface: Surface;
  refuse(at: string, message: string): void;
  advise(at: string, message: string): void;
  /** Adds to a count over the whole payload and answers the new sum. */
  count(what: string, by?: number): number;
  /** Notes an id; false when it was there before. */
  first(scope: string, id: string): boolean;
}

/** Checks one value; `at` is its JSON pointer. */
export type Rule = (value: unknown, at: string, report: Report) => void;

export function string(max: number, min = 1): Rule {
  return (value, at, report) => {
    if (typeof value !== 'string') report.refuse(at, 'must be a string');
    else if (value.length > max) report.refuse(at, `must be less than ${max + 1} characters`);
    else if (value.length < min) report.refuse(at, `must be more than ${min - 1} characters`);
  };
}

export function pattern(form: RegExp, words: string): Rule {
  return (value, at, report) => {
    if (typeof value !== 'string' || !form.test(value)) report.refuse(at, `must be ${words}`);
  };
}

export function integer(min: number, max: number): Rule {
  return (value, at, report) => {
    if (!Number.isInteger(value)) report.refuse(at, 'must be a whole number');
    else if (Number(value) < min || Number(value) > max)
      report.refuse(at, `must be between ${min} and ${max}`);
  };
}

export const number: Rule = (value, at, report) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) report.refuse(at, 'must be a number');
};

export const flag: Rule = (value, at, report) => {
  if (typeof value !== 'boolean') report.refuse(at, 'must be a boolean');
};

export const anything: Rule = () => {};

export function oneOf(...allowed: readonly (string | number)[]): Rule {
  return (value, at, report) => {
    if (!allowed.includes(value as string)) report.refuse(at, `must be one of: ${allowed.join(', ')}`);
  };
}

export function list(rule: Rule, max: number, min = 1): Rule {
  return (value, at, report) => {
    if (!Array.isArray(value)) return report.refuse(at, 'must be a list');
    if (value.length > max) report.refuse(at, `no more than ${max} items allowed`);
    if (value.length < min) report.refuse(at, `must contain at least ${min} item${min === 1 ? '' : 's'}`);
    for (const [index, item] of value.entries()) rule(item, `${at}/${index}`, report);
  };
}

/** An object with exactly these members; `also` looks at what goes beyond single members. */
export function shape(
  required: Record<string, Rule>,
  optional: Record<string, Rule> = {},
  also?: (value: Json, at: string, report: Report) => void,
): Rule {
  return (value, at, report) => {
    if (!isObject(value)) return report.refuse(at, 'must be an object');
    for (const [member, rule] of Object.entries(required)) {
      if (value[member] === undefined || value[member] === null)
        report.refuse(at, `missing required field: ${member}`);
      else rule(value[member], `${at}/${member}`, report);
    }
    for (const [member, present] of Object.entries(value)) {
      if (member === 'type' || member in required || present === undefined) continue;
      const rule = optional[member];
      if (rule) rule(present, `${at}/${member}`, report);
      else report.refuse(at, `invalid additional property: ${member}`);
    }
    also?.(value, at, report);
  };
}

/** An object whose `type` says which rule holds. */
export function byType(
  rules: Readonly<Record<string, Rule>>,
  allowed: readonly string[] = Object.keys(rules),
): Rule {
  return (value, at, report) => {
    if (!isObject(value)) return report.refuse(at, 'must be an object');
    const type = String(value['type']);
    const rule = allowed.includes(type) ? rules[type] : undefined;
    if (rule) rule(value, at, report);
    else report.refuse(`${at}/type`, `unsupported type: ${type}`);
  };
}

export function plain(max: number): Rule {
  return byType({ plain_text: shape({ text: string(max) }, { emoji: flag }) });
}

export function mrkdwn(max: number): Rule {
  return byType({ mrkdwn: shape({ text: string(max) }, { verbatim: flag }) });
}

export function anyText(max: number): Rule {
  return byType({
    plain_text: shape({ text: string(max) }, { emoji: flag }),
    mrkdwn: shape({ text: string(max) }, { verbatim: flag }),
  });
}

export const url: Rule = (value, at, report) => {
  string(3000)(value, at, report);
  if (typeof value === 'string' && !URL.canParse(value)) report.refuse(at, 'must be a valid URL');
};

export const httpsUrl: Rule = (value, at, report) => {
  url(value, at, report);
  if (typeof value === 'string' && !value.startsWith('https://')) report.refuse(at, 'must be an https URL');
};

export const id = string(255);
