import { totalsOf } from './attention.ts';
import type { Collected, CollectInput, DigestSubject } from './digest.ts';

/**
 * Asks the CDN for everything a digest tells of and compares it with earlier runs. Members that differ between two
 * runs of nothing else but the clock do not count as a change.
 *
 * @throws ApiError where the CDN refuses or does not answer.
 */
export async function collect(subject: DigestSubject, input: CollectInput): Promise<Collected> {
  const wanted = new Set(subject.targets.zones);
  if (!subject.kinds.includes('zones')) return {};
  const { zones } = await input.cdn.pullZones.all();
  const totals = totalsOf(wanted.size === 0 ? zones : zones.filter(({ id }) => wanted.has(id)));
  const before = input.previous?.figures.zones;
  return {
    zones: {
      zones: totals.zones,
      used: totals.used,
      charges: totals.charges,
      attention: totals.attention,
      ...(before ? { before: { zones: before.zones, used: before.used, charges: before.charges } } : {}),
    },
  };
}
