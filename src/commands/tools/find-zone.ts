import { z } from 'zod';
import { UserError } from '../../errors.ts';
import { pluralize } from '../../views/blocks/format.ts';
import { formatCode } from '../../views/blocks/text.ts';
import type { Context } from '../define.ts';
import { lookUpZone } from '../zones/lookup.ts';

/** Names, hostnames and ids have less than 200 characters. */
export function zoneArgument() {
  return z.string().trim().min(1).max(200).describe('Its name, a hostname or its id');
}

/** The zone that is meant, for callers that cannot ask back. @throws UserError with the zones it may be */
export async function findZone(typed: string, context: Context) {
  const found = await lookUpZone(typed, context);
  if (found.kind === 'one') return found.zone;
  const names = found.kind === 'none' ? found.near : found.zones.map(({ id, name }) => `${name} (id ${id})`);
  const few = names.slice(0, 5).map((name) => formatCode(name, 80));
  if (found.kind === 'none')
    throw new UserError(
      `No zone has the id, name or hostname ${formatCode(found.typed, 60)}.`,
      few.length > 0 ? `Near it: ${few.join(', ')}.` : '`/cdn zones` lists those your key sees.',
    );
  throw new UserError(
    `${pluralize(found.zones.length, 'zone')} match ${formatCode(found.words, 60)}: ${few.join(', ')}${names.length > few.length ? ' …' : ''}`,
    'Name one of them by its id.',
  );
}
