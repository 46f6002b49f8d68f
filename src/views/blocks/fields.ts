import { getEnumName } from '../../api/zones/enums.ts';
import { formatInteger } from './format.ts';
import { escapeMrkdwn, formatCode, join, type Maybe } from './text.ts';

/** A label, and a value in mrkdwn: none if the CDN did not report it, or if it does not apply. */
type Field = readonly [label: string, value: Maybe<string>];

export function renderFields(fields: readonly Field[]): string[] {
  return fields.flatMap(([label, value]) => (value ? [`${label}: ${value}`] : []));
}

/** The fields in one line; undefined if none has a value. */
export function joinFields(fields: readonly Field[]): string | undefined {
  return joinParts(...renderFields(fields));
}

export function joinParts(...parts: readonly Maybe<string>[]): string | undefined {
  return join(parts, ', ') || undefined;
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

/** Like `joinList`; undefined if the list is empty. */
export function joinNonEmpty(values: readonly string[] | undefined): string | undefined {
  return values?.length ? joinList(values) : undefined;
}

/** Foreign text in a `code` span. */
export function quote(value: string | undefined, length = 100): string | undefined {
  return value ? formatCode(value, length) : undefined;
}

export function humanize(value: string | undefined, length = 100): string | undefined {
  return value ? escapeMrkdwn(value, length) : undefined;
}

export function formatWhole(value: number | undefined, unit = ''): string | undefined {
  return value === undefined ? undefined : `${formatInteger(value)}${unit}`;
}

/** Like `formatWhole`; 0 means no limit. */
export function formatOrUnlimited(value: number | undefined, unit = ''): string | undefined {
  return value === 0 ? 'unlimited' : formatWhole(value, unit);
}

/** Without a unit, as everything that the specification gives none; below 0 is `not overridden`. */
export function formatOverride(value: number | undefined): string | undefined {
  return value !== undefined && value < 0 ? 'not overridden' : formatWhole(value);
}

/** The name of an enumeration's value in the specification. */
export function describeEnum(name: Parameters<typeof getEnumName>[0], value?: number): string | undefined {
  return value === undefined ? undefined : getEnumName(name, value);
}
