import type { Json } from '../world.ts';
import { isObject } from '../world.ts';
import { anyText, list, plain, type Report, type Rule, shape, string, url } from './rules.ts';

/** An option of a menu: plain text, up to 75 characters for text and description, 150 for the value. */
export const option = shape({ text: plain(75), value: string(150) }, { description: plain(75) });
/** In radio buttons and checkboxes the text may be mrkdwn. */
export const markedOption = shape({ text: anyText(75), value: string(150) }, { description: anyText(75) });
/** In an overflow menu an option may lead to an address. */
export const overflowOption = shape({ text: plain(75), value: string(150) }, { description: plain(75), url });

const group = shape({ label: plain(75), options: list(option, 100) });
export const options = list(option, 100);
export const optionGroups = list(group, 100);

/** A static menu has options or groups of them, and starts with one that it has. */
export function ofOwnOptions(value: Json, at: string, report: Report): void {
  if (
    (value['options'] === undefined) === (value['option_groups'] === undefined) &&
    'option_groups' in value
  ) {
    report.refuse(at, 'only one of options and option_groups is allowed');
  } else if (value['options'] === undefined && value['option_groups'] === undefined) {
    report.refuse(at, 'missing required field: options');
  }
  const groups = Array.isArray(value['option_groups']) ? value['option_groups'].filter(isObject) : [];
  const known = [value['options'], ...groups.map((part) => part['options'])].flatMap((part) =>
    Array.isArray(part) ? part : [],
  );
  const initial: [string, unknown][] = [['initial_option', value['initial_option']]];
  const several = value['initial_options'];
  if (Array.isArray(several))
    initial.push(...several.map((chosen, index): [string, unknown] => [`initial_options/${index}`, chosen]));
  for (const [member, chosen] of initial) {
    if (chosen !== undefined && !known.some((other) => sameOption(other, chosen))) {
      report.refuse(`${at}/${member}`, 'must exactly match one of the options');
    }
  }
}

/** The answer to a `block_suggestion`: options or groups, at most 100 of each; none is allowed. */
export const suggestions: Rule = (value, at, report) => {
  const own = shape(
    {},
    {
      options: list(option, 100, 0),
      option_groups: list(shape({ label: plain(75), options: list(option, 100, 0) }), 100, 0),
    },
  );
  own(value, at, report);
  if (!isObject(value)) return;
  if ((value['options'] === undefined) === (value['option_groups'] === undefined))
    report.refuse(at, 'must have options or option_groups');
};

function sameOption(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return false;
  return one['value'] === other['value'] && labelOf(one) === labelOf(other);
}

function labelOf(option: Json): unknown {
  return isObject(option['text']) ? option['text']['text'] : undefined;
}
