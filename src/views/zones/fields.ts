import { getEnumName } from '../../api/zones/enums.ts';
import { formatInteger } from '../blocks/format.ts';
import { join, type Maybe, truncate } from '../blocks/text.ts';

/** A setting and its value as plain text, a row of a table. */
export type Row = readonly [setting: string, value: string];

/** A value that is missing if the CDN did not report it, or if it does not apply. */
type Field = readonly [label: string, value: Maybe<string>];

export function listFields(fields: readonly Field[]): Row[] {
  return fields.flatMap(([label, value]) => (value ? [[label, value] as const] : []));
}

/** The switches that are on: `WebP, country`; `nothing` if none is, undefined if none is reported. */
export function joinSwitches(
  all: readonly (readonly [label: string, on: boolean | undefined])[],
  ...more: readonly Maybe<string>[]
): string | undefined {
  const on = join([...all.map(([label, isOn]) => isOn && label), ...more], ', ');
  return on || (all.some(([, isOn]) => isOn !== undefined) ? 'nothing' : undefined);
}

/** The fields in one line; undefined if none has a value. */
export function joinFields(fields: readonly Field[]): string | undefined {
  return joinParts(...listFields(fields).map(([label, value]) => `${label} ${value}`));
}

export function joinParts(...parts: readonly Maybe<string>[]): string | undefined {
  return join(parts, ', ') || undefined;
}

export function formatOnOff(on: boolean | undefined): string | undefined {
  return on === undefined ? undefined : on ? 'on' : 'off';
}

/** `de, at, ch and 12 more`; `none` if the list is empty. */
export function joinList(values: readonly string[] | undefined, most = 10): string | undefined {
  if (values === undefined) return undefined;
  if (values.length === 0) return 'none';
  const shown = values.slice(0, most).map((value) => truncate(value, 60) || '(empty)');
  const more = values.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${formatInteger(more)} more` : shown.join(', ');
}

/** Like `joinList`; undefined if the list is empty. */
export function joinNonEmpty(values: readonly string[] | undefined): string | undefined {
  return values?.length ? joinList(values) : undefined;
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

export function isPositive(value: number | undefined): boolean {
  return value !== undefined && value > 0;
}

/** 0 and below link to nothing. */
export function formatLinkedId(id: number | string | undefined): string | undefined {
  return id === undefined || Number(id) <= 0 ? undefined : String(id);
}
