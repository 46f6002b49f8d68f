import type { KnownBlock } from '@slack/types';
import type { ZoneSummary } from '../../api/zones/summary.ts';
import type { Zone } from '../../api/zones/zone.ts';
import { actions, context, header, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import { formatMoment, pluralize } from '../blocks/format.ts';
import { capitalize, escapeMrkdwn, join, plainText, truncateLines } from '../blocks/text.ts';
import { renderAccount, renderOrigin, renderOverview, renderPages } from './delivery.ts';
import { renderEdgeRule } from './edge-rules.ts';
import { describeAttention, describeState, describeUsage } from './rows.ts';
import { renderCaching, renderHostname, renderLogging, renderOptimizer, renderSecurity } from './sections.ts';

interface Section {
  readonly title: string;
  readonly lines: readonly string[];
  /** Maximum characters. Slack refuses messages whose blocks exceed about 13,000 together. */
  readonly room: number;
}

/** Every member of a zone except its name, each in exactly one section. */
export function renderSections(zone: Zone): Section[] {
  const rules = zone.edgeRules.toSorted((a, b) => (a.orderIndex ?? 0) - (b.orderIndex ?? 0));
  const sections: [title: string, room: number, lines: string[]][] = [
    [`Zone ${escapeMrkdwn(zone.summary.id, 20)}`, 1200, renderOverview(zone)],
    [pluralize(zone.hostnames.length, 'hostname'), 1300, zone.hostnames.map(renderHostname)],
    ['Origin', 900, renderOrigin(zone)],
    ['Caching', 1400, renderCaching(zone)],
    ['Security', 1500, renderSecurity(zone)],
    [
      pluralize(rules.length, 'edge rule'),
      2000,
      rules.map((rule, nth) => `${nth + 1}. ${renderEdgeRule(rule)}`),
    ],
    ['Optimizer', 1100, renderOptimizer(zone)],
    ['Logging', 600, renderLogging(zone)],
    ['Pages', 500, renderPages(zone)],
    ['Account', 500, renderAccount(zone)],
  ];
  return sections.map(([title, room, lines]) => ({ title, room, lines }));
}

/** One zone in sections. Empty sections are left out. */
export function renderZone(zone: Zone, asOf: Date): Message {
  const { summary } = zone;
  const name = escapeMrkdwn(summary.name, 80) || 'unnamed';
  const wrong = describeAttention(summary);
  const weak = describeWeaknesses(zone);
  return message(
    `Zone ${name}: ${describeState(summary).replace(/^:\w+: /u, '')}, ${describeUsage(summary)}${wrong ? `. Needs attention: ${wrong}` : ''}`,
    [
      header(plainText(summary.name || 'unnamed', 140)),
      wrong && section(`:warning: *Needs attention:* ${wrong}`),
      weak && section(`:shield: *Less secure than it can be:* ${weak}`),
      ...renderSections(zone).flatMap(renderSection),
      actions(
        commandButton('Origin errors', `errors ${summary.id}`, 2),
        button('As JSON', 'zones:file', summary.id),
        button('Refresh', 'zones:refresh', summary.id),
        commandButton('All zones', 'zones'),
        commandButton('Another zone', 'zone', 1),
      ),
      context(`As of ${formatMoment(asOf)}. Keys, tokens and header values are never shown.`),
    ],
  );
}

export interface ZoneFile {
  readonly summary: Pick<ZoneSummary, 'id' | 'name'>;
  readonly json: string;
  readonly asOf: Date;
}

export function renderZoneFile({ summary, json, asOf }: ZoneFile): Message {
  const text = `The documented fields of zone ${escapeMrkdwn(summary.name, 80) || escapeMrkdwn(summary.id, 20)}, as JSON.`;
  const name = `zone-${summary.id}-${plainText(summary.name, 60).replaceAll(/[^\w.-]+/gu, '_')}.json`;
  return {
    ...say(
      text,
      context(
        `As of ${formatMoment(asOf)}. Keys, tokens, certificates, header values, query values and fields that the CDN does not document are left out. Ids are text; null: nothing linked, or not reported.`,
      ),
    ),
    files: [{ name, title: text, mimetype: 'application/json', content: new TextEncoder().encode(json) }],
  };
}

/** Settings that make a zone less secure, the most serious first. Members that are not reported count as fine. */
function describeWeaknesses(zone: Zone): string {
  return join(
    [
      zone.enableTLS1 && 'TLS 1.0 is on',
      zone.enableTLS1_1 && 'TLS 1.1 is on',
      zone.verifyOriginSSL === false && 'the origin’s certificate is not verified',
      zone.shieldDDosProtectionEnabled === false && 'DDoS protection is off',
    ],
    ', ',
  );
}

function renderSection({ title, lines, room }: Section): KnownBlock[] {
  return lines.length === 0 ? [] : [section(`*${capitalize(title)}*\n${truncateLines(lines, room)}`)];
}
