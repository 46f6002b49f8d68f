import type { KnownBlock } from '@slack/types';
import type { Zone } from '../api/zone.ts';
import type { ZoneSummary } from '../api/zone-summary.ts';
import type { Weakness } from '../commands/posture.ts';
import type { Attention } from '../reports/attention.ts';
import { actions, button, context, header, message, section, typing } from './blocks.ts';
import { moment } from './dates.ts';
import { edgeRule } from './edge-rules.ts';
import type { Message } from './message.ts';
import { count, fit, foreign, plainly } from './text.ts';
import * as delivery from './zone-delivery.ts';
import { overview } from './zone-overview.ts';
import * as sections from './zone-sections.ts';
import { attentionWords, stateOf, usage } from './zones.ts';

interface Section {
  readonly title: string;
  readonly lines: readonly string[];
  /** Characters it may take. Slack refuses messages whose blocks together pass about 13,000. */
  readonly room: number;
}

/** Everything of a zone but its name, each member of the specification in exactly one section. */
export function sectionsOf(zone: Zone): Section[] {
  const rules = zone.edgeRules
    .toSorted((a, b) => (a.orderIndex ?? 0) - (b.orderIndex ?? 0))
    .map((rule, index) => `${index + 1}. ${edgeRule(rule)}`);
  return [
    { title: `Zone ${foreign(zone.summary.id, 20)}`, lines: overview(zone), room: 1200 },
    {
      title: count(zone.hostnames.length, 'hostname'),
      lines: sections.hostnames(zone),
      room: 1300,
    },
    { title: 'Origin', lines: delivery.origin(zone), room: 900 },
    { title: 'Caching', lines: sections.caching(zone), room: 1400 },
    { title: 'Security', lines: sections.security(zone), room: 1500 },
    { title: count(rules.length, 'edge rule'), lines: rules, room: 2000 },
    { title: 'Optimizer', lines: sections.optimizer(zone), room: 1100 },
    { title: 'Logging', lines: sections.logging(zone), room: 600 },
    { title: 'Pages', lines: delivery.pages(zone), room: 500 },
    { title: 'Account', lines: delivery.account(zone), room: 500 },
  ];
}

/** One zone in sections. A section without anything to say is left out. */
export function zone(shown: {
  readonly zone: Zone;
  readonly attention: readonly Attention[];
  readonly weaknesses: readonly Weakness[];
  readonly asOf: Date;
}): Message {
  const { zone, attention, weaknesses: weak, asOf } = shown;
  const { summary } = zone;
  const name = foreign(summary.name, 80) || 'unnamed';
  const wrong = attention.length > 0 ? attentionWords(summary, attention) : '';
  return message(
    `Zone ${name}: ${stateOf(summary).replace(/^:\w+: /u, '')}, ${usage(summary)}${wrong ? `. Needs attention: ${wrong}` : ''}`,
    [
      header(plainly(summary.name || 'unnamed', 140)),
      ...(wrong ? [section(`:warning: *Needs attention:* ${wrong}`)] : []),
      ...(weak.length > 0
        ? [section(`:shield: *Usually set otherwise:* ${weak.map(weaknessWords).join(', ')}`)]
        : []),
      ...sectionsOf(zone).flatMap(part),
      actions(
        typing('Origin errors', `errors ${summary.id}`, 2),
        button('Everything as JSON', 'zones:file', summary.id),
        button('Refresh', 'zones:refresh', summary.id),
        typing('All zones', 'zones'),
        typing('Another zone', 'zone', 1),
      ),
      context(`As of ${moment(asOf)}. Keys, tokens and header values are never shown.`),
    ],
  );
}

/** A zone's settings as a file. */
export function zoneFile(shown: {
  readonly zone: Pick<ZoneSummary, 'id' | 'name'>;
  readonly json: string;
  readonly asOf: Date;
}): Message {
  const summary = shown.zone;
  const text = `Everything the CDN reports of zone ${foreign(summary.name, 80) || foreign(summary.id, 20)}, as JSON.`;
  const name = plainly(summary.name, 60).replaceAll(/[^\w.-]+/gu, '_');
  return {
    ...message(text, [
      section(text),
      context(
        `As of ${moment(shown.asOf)}. Keys, tokens, certificates, header values and query values are left out.`,
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

function weaknessWords(weakness: Weakness): string {
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

function part({ title, lines, room }: Section): KnownBlock[] {
  return lines.length === 0
    ? []
    : [section(`*${title.charAt(0).toUpperCase()}${title.slice(1)}*\n${fit(lines, room)}`)];
}
