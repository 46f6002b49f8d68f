import { pluralize } from '../../../../../views/blocks/format.ts';
import type { Condition } from '../condition.ts';
import { type JudgeZone, lookAtZones, nameOf, showZone } from './look.ts';

/** A hostname of the customer's own without a certificate: browsers refuse it. */
export const missingCertificates: Condition<'certificate-missing'> = {
  name: 'certificate-missing',
  label: 'Hostname without certificate',
  words: /^(?!.*(?:\bend|expir)).*certificate/iu,
  target: 'zones',
  // A new hostname gets its certificate some minutes later.
  damping: { open: [3, 3], close: 2 },
  describe: () => 'a hostname has no certificate',
  async evaluate(input) {
    const { wrong, highest: _, ...found } = await lookAtZones(input, judge, 'has no hostname');
    return { ...found, value: wrong };
  },
  formatValue: (hostnames) => pluralize(hostnames, 'hostname'),
  unit: 'Hostnames',
  next: (part) => showZone(part, 'zones only:no-certificate'),
};

const judge: JudgeZone = (zone) => {
  const { hostnames, hostnamesWithoutCertificate: without } = zone;
  const wrongIf = 'a hostname without';
  if (without.length === 0 && hostnames.length > 0) {
    const is = 'each hostname has one';
    return [{ name: nameOf(zone), is, wrongIf, isWrong: false, text: is, severity: 0 }];
  }
  return without.map((hostname) => {
    const text = `no certificate (zone ${nameOf(zone)})`;
    const id = `${zone.id}/${hostname}`;
    return { id, name: hostname, is: text, wrongIf, isWrong: true, text, severity: 1 };
  });
};
