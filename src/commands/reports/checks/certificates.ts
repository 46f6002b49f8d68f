import type { Certificate } from '../../../api/zones/pull-zones.ts';
import { UserError } from '../../../errors.ts';
import { dayMs, toUtcDay } from '../../../lib/time.ts';
import { formatCount } from '../../../views/blocks/format.ts';
import { truncate } from '../../../views/blocks/text.ts';
import type { Observation } from '../alerts/conditions/condition.ts';
import {
  createNoneThereError,
  defineCondition,
  type JudgeInput,
  nameZone,
  showZone,
  toNote,
} from './check.ts';

interface CertificateFacts {
  readonly names: ReadonlyMap<string, string>;
  readonly certificates: readonly Certificate[];
}

/** A certificate of the customer's own hostnames that ends soon, or has ended. */
export const endingCertificates = defineCondition({
  name: 'certificate-ending',
  label: 'Certificate ends soon',
  words: /certificate.*(?:\bend|expir)|(?:\bend|expir).*certificate/iu,
  target: 'zones',
  threshold: {
    label: 'Ends within',
    unit: 'days',
    initial: 14,
    least: 1,
    most: 90,
    hint: 'Once a day. The CDN’s answer carries private keys too: the bot drops them unread.',
  },
  leastEvery: 24 * 60,
  damping: { open: [1, 1], close: 1 },
  describe: ({ threshold }) => `a certificate ends within ${formatCount(threshold, 'day')}`,
  async read({ account, subject: { targets } }): Promise<CertificateFacts> {
    const { zones } = await account.pullZones.all();
    const names = new Map(zones.map((zone) => [zone.id, nameZone(zone)]));
    if (targets.length > 0 && !targets.some((id) => names.has(id))) throw createNoneThereError();
    return { names, certificates: await account.pullZones.certificates() };
  },
  judge(
    { names, certificates: all }: CertificateFacts,
    { targets, threshold, now }: JudgeInput,
  ): Observation {
    const chosen = new Set(targets);
    const certificates = all.filter(({ zoneId }) => chosen.size === 0 || chosen.has(zoneId));
    const found = certificates
      .flatMap(({ endsAt, ...one }) => (endsAt ? [{ ...one, endsAt }] : []))
      .toSorted((a, b) => a.endsAt.getTime() - b.endsAt.getTime())
      .map(({ zoneId, hostname, endsAt }) => {
        const days = (endsAt.getTime() - now.getTime()) / dayMs;
        const about = {
          id: `${zoneId}/${hostname}`,
          name: truncate(hostname, 60),
          is: describeEnd(endsAt, days),
        };
        return { ...about, zone: names.get(zoneId) ?? `zone ${zoneId}`, isWrong: days <= threshold };
      });
    if (found.length === 0)
      throw new UserError(
        'The CDN reports no readable end date of any certificate of these zones.',
        'Choose other zones: edit the alert.',
      );
    const wrongIf = `in ${formatCount(threshold, 'day')} or less`;
    const unreadable = certificates.filter(({ endsAt }) => !endsAt);
    const withOne = new Set(certificates.map(({ zoneId }) => zoneId));
    return {
      parts: found
        .filter(({ isWrong }) => isWrong)
        .map(({ id, name, is, zone }) => ({ id, name, text: `${is} (zone ${zone})` }))
        .slice(0, 50),
      unread: unreadable.map(({ zoneId, hostname }) => `${zoneId}/${hostname}`),
      evidence: [
        ...found.slice(0, 20).map(({ name, is, isWrong }) => ({ name, is, wrongIf, isWrong })),
        ...targets.filter((id) => !names.has(id)).map((id) => toNote(`zone ${id}`, 'not in the account')),
        ...unreadable.map(({ hostname }) => toNote(truncate(hostname, 60), 'its end date is unreadable')),
        ...targets
          .filter((id) => names.has(id) && !withOne.has(id))
          .map((id) => toNote(names.get(id) ?? id, 'no certificate of its own is reported')),
      ].slice(0, 30),
    };
  },
  next: (part) => showZone(part, 'zones only:no-certificate'),
});

/** `ends in 10 days, on 2026-12-03`, whole days, rounded down. */
function describeEnd(endsAt: Date, days: number): string {
  const day = toUtcDay(endsAt);
  if (days < 0) return `ended on ${day}`;
  return days < 1
    ? `ends in less than a day, on ${day}`
    : `ends in ${formatCount(Math.floor(days), 'day')}, on ${day}`;
}
