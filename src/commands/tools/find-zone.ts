import { z } from 'zod';
import { pluralize } from '../../views/blocks/format.ts';
import { formatCode } from '../../views/blocks/text.ts';
import type { Context } from '../define.ts';
import { lookUpZone } from '../zones/lookup.ts';
import { type NextCall, ToolRefusal } from './tool.ts';

/** Names, hostnames and ids have less than 200 characters. */
export function zoneArgument() {
  return z.string().trim().min(1).max(200).describe('Its name, a hostname or its ID');
}

/** The calls about zones that help next. */
export const allZones: NextCall = { label: 'All zones', tool: 'list_zones', arguments: {} };

export function toZone({ id, name }: { readonly id: string; readonly name: string }): NextCall {
  return { label: name || id, tool: 'get_zone', arguments: { zone: id } };
}

/** The first of these zones, each once, or the list of all where there is none. */
export function toZones(zones: readonly { readonly id: string; readonly name: string }[]): NextCall[] {
  const calls = new Map(zones.map((zone) => [zone.id, toZone(zone)]));
  return calls.size > 0 ? [...calls.values()].slice(0, 3) : [allZones];
}

export function toOriginErrors({ id }: { readonly id: string }): NextCall {
  return { label: 'Origin errors', tool: 'list_origin_errors', arguments: { zone: id } };
}

/** The zone that is meant by an argument, for callers that cannot ask back. @throws ToolRefusal with the zones it may be */
export async function findZone(typed: string, context: Context, argument = 'zone') {
  const found = await lookUpZone(typed, context);
  if (found.kind === 'one') return found.zone;
  if (found.kind === 'none')
    throw new ToolRefusal(
      `No zone has the ID, name or hostname ${formatCode(found.typed, 60)}.`,
      found.near.length > 0 ? 'Some names are near it.' : '`/cdn zones` lists those your key sees.',
      found.near.slice(0, mostNamed).map((name) => ({ [argument]: name })),
    );
  const few = found.zones.slice(0, mostNamed);
  const names = few.map(({ id, name }) => formatCode(`${name} (ID ${id})`, 80));
  throw new ToolRefusal(
    `${pluralize(found.zones.length, 'zone')} match ${formatCode(found.words, 60)}: ${names.join(', ')}${found.zones.length > few.length ? ' …' : ''}`,
    'Name one of them by its ID.',
    few.map(({ id }) => ({ [argument]: id })),
  );
}

const mostNamed = 5;
