import type { KnownBlock } from '@slack/types';
import type { Zone } from '../api/zone.ts';
import type { Attention } from '../commands/attention.ts';
import type { Message } from '../commands/define.ts';
import { actions, context, header, message, section, typing } from './blocks.ts';
import { moment } from './dates.ts';
import { edgeRule } from './edge-rules.ts';
import { count, fit, foreign, plainly } from './text.ts';
import { overview } from './zone-overview.ts';
import * as sections from './zone-sections.ts';
import { attentionWords, stateOf, usage } from './zones.ts';

/** Characters for each section. Slack refuses messages whose blocks together pass about 13,000. */
const room = {
  overview: 1500,
  hostnames: 1500,
  caching: 1500,
  security: 1700,
  rules: 2900,
  optimizer: 1200,
  logging: 900,
};

/** One zone in sections. A section without anything to say is left out. */
export function zone(shown: {
  readonly zone: Zone;
  readonly attention: readonly Attention[];
  readonly asOf: Date;
}): Message {
  const { zone, attention, asOf } = shown;
  const { summary } = zone;
  const name = foreign(summary.name, 80) || 'unnamed';
  const rules = zone.edgeRules
    .toSorted((a, b) => (a.orderIndex ?? 0) - (b.orderIndex ?? 0))
    .map((rule, index) => `${index + 1}. ${edgeRule(rule)}`);
  const wrong = attention.length > 0 ? attentionWords(summary, attention) : '';
  return message(
    `Zone ${name}: ${stateOf(summary).replace(/^:\w+: /u, '')}, ${usage(summary)}${wrong ? `. Needs attention: ${wrong}` : ''}`,
    [
      header(plainly(summary.name || 'unnamed', 140)),
      ...(wrong ? [section(`:warning: *Needs attention:* ${wrong}`)] : []),
      ...part(`Zone ${foreign(summary.id, 20)}`, overview(zone), room.overview),
      ...part(count(zone.hostnames.length, 'hostname'), sections.hostnames(zone), room.hostnames),
      ...part('Caching', sections.caching(zone), room.caching),
      ...part('Security', sections.security(zone), room.security),
      ...part(count(rules.length, 'edge rule'), rules, room.rules),
      ...part('Optimizer', sections.optimizer(zone), room.optimizer),
      ...part('Logging', sections.logging(zone), room.logging),
      actions(typing('All zones', 'zones'), typing('Another zone', 'zone', 1)),
      context(`As of ${moment(asOf)}. Keys, tokens and header values are never shown.`),
    ],
  );
}

function part(title: string, lines: readonly string[], length: number): KnownBlock[] {
  return lines.length === 0
    ? []
    : [section(`*${title.charAt(0).toUpperCase()}${title.slice(1)}*\n${fit(lines, length)}`)];
}
