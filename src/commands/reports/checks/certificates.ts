import { UserError } from '../../../errors.ts';
import { dayMs, toUtcDay } from '../../../lib/time.ts';
import { pluralize } from '../../../views/blocks/format.ts';
import { truncate } from '../../../views/blocks/text.ts';
import type { Condition, Evidence, Part } from '../alerts/conditions/condition.ts';
import { createNoneThereError, nameZone, showZone, toNote } from './check.ts';

const initial = 14;
const mostRows = 20;

/** A certificate of the customer's own hostnames that ends soon, or has ended. */
export const endingCertificates: Condition<'certificate-ending'> = {
  name: 'certificate-ending',
  label: 'Certificate ends soon',
  words: /certificate.*(?:\bend|expir)|(?:\bend|expir).*certificate/iu,
  target: 'zones',
  threshold: {
    label: 'Ends within',
    unit: 'days',
    initial,
    least: 1,
    most: 90,
    hint: 'Once a day. The CDN’s answer carries private keys too: the bot drops them unread.',
  },
  leastEvery: 24 * 60,
  damping: { open: [1, 1], close: 1 },
  describe: ({ threshold = initial }) => `a certificate ends within ${pluralize(threshold, 'day')}`,
  async evaluate({ account, subject: { targets, threshold = initial }, now }) {
    const { zones } = await account.pullZones.all();
    const names = new Map(zones.map((zone) => [zone.id, nameZone(zone)]));
    const chosen = targets.length > 0 && new Set(targets);
    const missing = targets.filter((id) => !names.has(id));
    if (chosen && missing.length === chosen.size) throw createNoneThereError();
    const certificates = (await account.pullZones.certificates()).filter(
      ({ zoneId }) => !chosen || chosen.has(zoneId),
    );
    const found = certificates
      .flatMap(({ endsAt, ...one }) => (endsAt ? [{ ...one, endsAt }] : []))
      .toSorted((a, b) => a.endsAt.getTime() - b.endsAt.getTime());
    if (found.length === 0)
      throw new UserError(
        'The CDN reports no certificate of these zones whose end can be read.',
        'Choose other zones: edit the alert.',
      );
    const rows = found.map(({ zoneId, hostname, endsAt }) => {
      const days = (endsAt.getTime() - now.getTime()) / dayMs;
      const zone = names.get(zoneId) ?? `zone ${zoneId}`;
      const isWrong = days <= threshold;
      const part: Part = {
        id: `${zoneId}/${hostname}`,
        name: truncate(hostname, 60),
        text: `${describeEnd(endsAt, days)} (zone ${zone})`,
      };
      const evidence: Evidence = {
        name: part.name,
        is: describeEnd(endsAt, days),
        wrongIf: `in ${pluralize(threshold, 'day')} or less`,
        isWrong,
      };
      return { part, evidence };
    });
    const unreadable = certificates.filter(({ endsAt }) => !endsAt);
    const withOne = new Set(certificates.map(({ zoneId }) => zoneId));
    return {
      parts: rows.flatMap(({ part, evidence }) => (evidence.isWrong ? [part] : [])).slice(0, 50),
      unread: unreadable.map(({ zoneId, hostname }) => `${zoneId}/${hostname}`),
      evidence: [
        ...rows.slice(0, mostRows).map(({ evidence }) => evidence),
        ...missing.map((id) => toNote(`zone ${id}`, 'not in the account')),
        ...unreadable.map(({ hostname }) => toNote(truncate(hostname, 60), 'its end cannot be read')),
        ...targets
          .filter((id) => names.has(id) && !withOne.has(id))
          .map((id) => toNote(names.get(id) ?? id, 'no certificate of its own is reported')),
      ].slice(0, 30),
    };
  },
  next: (part) => showZone(part, 'zones only:no-certificate'),
};

/** `ends in 10 days, on 2026-12-03`, whole days, rounded down. */
function describeEnd(endsAt: Date, days: number): string {
  const day = toUtcDay(endsAt);
  if (days < 0) return `ended on ${day}`;
  return days < 1
    ? `ends in less than a day, on ${day}`
    : `ends in ${pluralize(Math.floor(days), 'day')}, on ${day}`;
}
