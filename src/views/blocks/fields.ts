import { getEnumName } from '../../api/zones/enums.ts';
import { escapeMrkdwn, formatInteger, pluralize } from './text.ts';

/** A line of a zone: label and value in mrkdwn. Lines without a value, which the CDN did not report, are left out. */
export type Field = readonly [label: string, value: string | undefined];

export function renderFields(fields: readonly Field[]): string[] {
  return fields.flatMap(([label, value]) =>
    value === undefined || value === '' ? [] : [`${label}: ${value}`],
  );
}

/** The fields in one line; undefined if none has a value. */
export function joinFields(facts: readonly Field[]): string | undefined {
  return renderFields(facts).join(', ') || undefined;
}

/** Switches in two lines, on and off, so that twenty of them fit on a phone. */
export function renderSwitches(
  all: readonly (readonly [label: string, on: boolean | undefined])[],
): string[] {
  const labels = (wanted: boolean) => all.flatMap(([label, on]) => (on === wanted ? [label] : [])).join(', ');
  return renderFields([
    ['On', labels(true)],
    ['Off', labels(false)],
  ]);
}

export function formatOnOff(on: boolean | undefined): string | undefined {
  return on === undefined ? undefined : on ? 'on' : 'off';
}

/** `de, at, ch and 12 more`; `none` if the list is empty. */
export function joinList(values: readonly string[] | undefined, most = 10): string | undefined {
  if (values === undefined) return undefined;
  if (values.length === 0) return 'none';
  const shown = values.slice(0, most).map((value) => escapeMrkdwn(value, 60) || '(empty)');
  const more = values.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${formatInteger(more)} more` : shown.join(', ');
}

export function humanize(value: string | undefined, length = 100): string | undefined {
  return value === undefined || value === '' ? undefined : escapeMrkdwn(value, length);
}

export function formatWhole(value: number | undefined, unit = ''): string | undefined {
  return value === undefined ? undefined : `${formatInteger(value)}${unit}`;
}

/** Like `formatWhole`; 0 means no limit. */
export function formatOrUnlimited(value: number | undefined, unit = ''): string | undefined {
  return value === 0 ? 'unlimited' : formatWhole(value, unit);
}

/** `30 days`, `1 hour`, `90 seconds`; below 0 is `not overridden`. */
export function formatSeconds(value: number | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (value < 0) return 'not overridden';
  for (const [length, unit] of [
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
  ] as const) {
    if (value >= length && value % length === 0) return pluralize(value / length, unit);
  }
  return value === 0 ? '0 seconds' : pluralize(value, 'second');
}

/** The name of an enumeration's value in the specification. */
export function describeEnum(
  name: Parameters<typeof getEnumName>[0],
  value: number | undefined,
): string | undefined {
  return value === undefined ? undefined : getEnumName(name, value);
}
