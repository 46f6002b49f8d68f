import { nameOf } from '../../api/zones/enums.ts';
import { escapeMrkdwn, formatInteger, pluralize } from './text.ts';

/** A line of a zone: what it is, and its value in mrkdwn. Without a value it is left out: the CDN did not report it. */
export type Field = readonly [label: string, value: string | undefined];

export function renderFields(facts: readonly Field[]): string[] {
  return facts.flatMap(([label, value]) =>
    value === undefined || value === '' ? [] : [`${label}: ${value}`],
  );
}

/** Switches in two lines, those that are on and those that are off, so that twenty of them fit on a phone. */
export function renderSwitches(
  all: readonly (readonly [label: string, on: boolean | undefined])[],
): string[] {
  const named = (wanted: boolean) => all.flatMap(([label, on]) => (on === wanted ? [label] : [])).join(', ');
  return renderFields([
    ['On', named(true)],
    ['Off', named(false)],
  ]);
}

export function formatOnOff(on: boolean | undefined): string | undefined {
  return on === undefined ? undefined : on ? 'on' : 'off';
}

/** `de, at, ch and 12 more`; `none` where the list is empty. */
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

/** Like `whole`, where 0 says that there is no limit. */
export function formatOrUnlimited(value: number | undefined, unit = ''): string | undefined {
  return value === 0 ? 'unlimited' : formatWhole(value, unit);
}

/** Seconds the way people say them: `30 days`, `1 hour`, `90 seconds`. Below 0 nothing is overridden. */
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

/** An enumeration's value by its name in the specification. */
export function describeEnum(
  name: Parameters<typeof nameOf>[0],
  value: number | undefined,
): string | undefined {
  return value === undefined ? undefined : nameOf(name, value);
}
