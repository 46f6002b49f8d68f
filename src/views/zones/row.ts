import type { Button, KnownBlock } from '@slack/types';
import type { Attention, ZoneSummary } from '../../api/zones/summary.ts';
import { button, section } from '../blocks/blocks.ts';
import { escapeMrkdwn, formatBytes, formatInteger, formatMoney, formatPercent } from '../blocks/text.ts';

/** A zone and the reasons why it needs attention. */
export interface ZoneRow {
  readonly zone: ZoneSummary;
  readonly attention: readonly Attention[];
}

/** The reasons in words. */
export function describeAttention(zone: ZoneSummary, reasons: readonly Attention[]): string {
  return reasons
    .map((reason) => {
      switch (reason) {
        case 'suspended':
          return 'suspended';
        case 'disabled':
          return 'disabled';
        case 'near-limit':
          return (zone.bandwidthUsed ?? 0) >= (zone.bandwidthLimit ?? 0)
            ? 'at its bandwidth limit'
            : 'above 80 % of its bandwidth limit';
        case 'no-certificate': {
          const [one = '', ...others] = zone.hostnamesWithoutCertificate;
          return `no certificate for ${escapeMrkdwn(one, 60)}${others.length > 0 ? ` and ${formatInteger(others.length)} more` : ''}`;
        }
      }
    })
    .join(', ');
}

/** `:large_green_circle: active`; the colour never stands alone. */
export function describeState(zone: Pick<ZoneSummary, 'enabled' | 'suspended'>): string {
  if (zone.suspended === true) return ':red_circle: suspended';
  if (zone.enabled === false) return ':white_circle: disabled';
  if (zone.enabled === true) return ':large_green_circle: active';
  return 'state not reported';
}

/** `812 GB of 1,000 GB (81 %)`, `52.4 MB, no limit`. */
export function describeUsage(zone: Pick<ZoneSummary, 'bandwidthUsed' | 'bandwidthLimit'>): string {
  const { bandwidthUsed: used, bandwidthLimit: limit } = zone;
  if (used === undefined)
    return limit === undefined ? 'bandwidth not reported' : `limit ${formatBytes(limit)}`;
  if (limit === undefined) return `${formatBytes(used)}, no limit`;
  return `${formatBytes(used)} of ${formatBytes(limit)} (${formatPercent(used, limit)})`;
}

/** Each row is a block of its own, so all can use the same action id. */
export function showButton(id: string, label = 'Show'): Button {
  return button(label, 'zones:show', id);
}

/** Quotes a word if a command needs it. */
export function quoteWord(text: string): string {
  return /[\s:=]/u.test(text) ? `"${text.replaceAll('"', '')}"` : text;
}

/** One zone of a list, with a button that shows it. */
export function renderRow({ zone, attention }: ZoneRow): KnownBlock {
  const [hostname, ...others] = zone.hostnames;
  const facts = [
    describeUsage(zone),
    zone.charges === undefined ? '' : formatMoney(zone.charges),
    hostname === undefined
      ? 'no hostname'
      : escapeMrkdwn(hostname, 60) + (others.length > 0 ? ` +${others.length}` : ''),
  ];
  const lines = [
    `*${escapeMrkdwn(zone.name, 60) || 'unnamed'}* · ${describeState(zone)} · ${escapeMrkdwn(zone.id, 20)}`,
    facts.filter(Boolean).join(' · '),
    attention.length > 0 ? `:warning: ${describeAttention(zone, attention)}` : '',
  ];
  return section(lines.filter(Boolean).join('\n'), showButton(zone.id));
}
