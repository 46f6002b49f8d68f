import type { KnownBlock } from '@slack/types';
import type { Attention, ZoneSummary } from '../../api/zones/summary.ts';
import type { Weakness, Zone } from '../../api/zones/zone.ts';
import { actions, button, commandButton, context, header, message, section } from '../blocks/blocks.ts';
import { formatMoment } from '../blocks/dates.ts';
import type { Message } from '../blocks/message.ts';
import { escapeMrkdwn, plainText, pluralize, truncateLines } from '../blocks/text.ts';
import * as delivery from './delivery.ts';
import { renderOverview } from './delivery.ts';
import { renderEdgeRule } from './edge-rules.ts';
import { describeAttention, describeState, describeUsage } from './row.ts';
import * as sections from './sections.ts';

interface Section {
  readonly title: string;
  readonly lines: readonly string[];
  /** Maximum characters. Slack refuses messages whose blocks exceed about 13,000 together. */
  readonly room: number;
}

/** Every member of a zone except its name, each in exactly one section. */
export function renderSections(zone: Zone): Section[] {
  const rules = zone.edgeRules
    .toSorted((a, b) => (a.orderIndex ?? 0) - (b.orderIndex ?? 0))
    .map((rule, index) => `${index + 1}. ${renderEdgeRule(rule)}`);
  return [
    { title: `Zone ${escapeMrkdwn(zone.summary.id, 20)}`, lines: renderOverview(zone), room: 1200 },
    {
      title: pluralize(zone.hostnames.length, 'hostname'),
      lines: sections.renderHostnames(zone),
      room: 1300,
    },
    { title: 'Origin', lines: delivery.renderOrigin(zone), room: 900 },
    { title: 'Caching', lines: sections.renderCaching(zone), room: 1400 },
    { title: 'Security', lines: sections.renderSecurity(zone), room: 1500 },
    { title: pluralize(rules.length, 'edge rule'), lines: rules, room: 2000 },
    { title: 'Optimizer', lines: sections.renderOptimizer(zone), room: 1100 },
    { title: 'Logging', lines: sections.renderLogging(zone), room: 600 },
    { title: 'Pages', lines: delivery.renderPages(zone), room: 500 },
    { title: 'Account', lines: delivery.renderAccount(zone), room: 500 },
  ];
}

/** One zone in sections. Empty sections are left out. */
export function renderZone(shown: {
  readonly zone: Zone;
  readonly attention: readonly Attention[];
  readonly weaknesses: readonly Weakness[];
  readonly asOf: Date;
}): Message {
  const { zone, attention, weaknesses: weak, asOf } = shown;
  const { summary } = zone;
  const name = escapeMrkdwn(summary.name, 80) || 'unnamed';
  const wrong = attention.length > 0 ? describeAttention(summary, attention) : '';
  return message(
    `Zone ${name}: ${describeState(summary).replace(/^:\w+: /u, '')}, ${describeUsage(summary)}${wrong ? `. Needs attention: ${wrong}` : ''}`,
    [
      header(plainText(summary.name || 'unnamed', 140)),
      ...(wrong ? [section(`:warning: *Needs attention:* ${wrong}`)] : []),
      ...(weak.length > 0
        ? [section(`:shield: *Usually set otherwise:* ${weak.map(describeWeakness).join(', ')}`)]
        : []),
      ...renderSections(zone).flatMap(renderSection),
      actions(
        commandButton('Origin errors', `errors ${summary.id}`, 2),
        button('Everything as JSON', 'zones:file', summary.id),
        button('Refresh', 'zones:refresh', summary.id),
        commandButton('All zones', 'zones'),
        commandButton('Another zone', 'zone', 1),
      ),
      context(`As of ${formatMoment(asOf)}. Keys, tokens and header values are never shown.`),
    ],
  );
}

/** A zone's settings as a file. */
export function renderZoneFile(shown: {
  readonly zone: Pick<ZoneSummary, 'id' | 'name'>;
  readonly json: string;
  readonly asOf: Date;
}): Message {
  const summary = shown.zone;
  const text = `Everything the CDN reports of zone ${escapeMrkdwn(summary.name, 80) || escapeMrkdwn(summary.id, 20)}, as JSON.`;
  const name = plainText(summary.name, 60).replaceAll(/[^\w.-]+/gu, '_');
  return {
    ...message(text, [
      section(text),
      context(
        `As of ${formatMoment(shown.asOf)}. Keys, tokens, certificates, header values and query values are left out.`,
      ),
    ]),
    files: [
      {
        name: `zone-${summary.id}-${name}.json`,
        title: text,
        mimetype: 'application/json',
        content: new TextEncoder().encode(shown.json),
      },
    ],
  };
}

function describeWeakness(weakness: Weakness): string {
  switch (weakness) {
    case 'tls-1.0':
      return 'TLS 1.0 is on';
    case 'tls-1.1':
      return 'TLS 1.1 is on';
    case 'origin-certificate':
      return 'the origin’s certificate is not verified';
    case 'token-authentication':
      return 'token authentication is off';
    case 'logging':
      return 'logging is off';
    case 'origin-shield':
      return 'no origin shield';
    case 'ddos-protection':
      return 'DDoS protection is off';
  }
}

function renderSection({ title, lines, room }: Section): KnownBlock[] {
  return lines.length === 0
    ? []
    : [section(`*${title.charAt(0).toUpperCase()}${title.slice(1)}*\n${truncateLines(lines, room)}`)];
}
