import type { Button, InputBlock, KnownBlock, ModalView, Option } from '@slack/types';
import { type Attention, attentionReasons, type ZoneSummary } from '../../api/zones/summary.ts';
import { actions, type Message, message, section } from '../blocks/blocks.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import { formatBytes, formatInteger, formatMoney, formatPercent, pluralize } from '../blocks/format.ts';
import { modal, option, searchSelect } from '../blocks/inputs.ts';
import { escapeMrkdwn, formatCode, join, plainText } from '../blocks/text.ts';

/** The reasons why a zone needs attention; '' if there are none. */
export function describeAttention(zone: ZoneSummary): string {
  const isAtLimit = (zone.bandwidthUsed ?? 0) >= (zone.bandwidthLimit ?? 0);
  const [hostname = '', ...others] = zone.hostnamesWithoutCertificate;
  const words: Record<Attention, string> = {
    suspended: 'suspended',
    disabled: 'disabled',
    'near-limit': isAtLimit ? 'at its bandwidth limit' : 'above 80 % of its bandwidth limit',
    'no-certificate': `no certificate for ${escapeMrkdwn(hostname, 60)}${others.length > 0 ? ` and ${formatInteger(others.length)} more` : ''}`,
  };
  return attentionReasons(zone)
    .map((reason) => words[reason])
    .join(', ');
}

/** `:large_green_circle: active`; the colour never stands alone. */
export function describeState({ enabled, suspended }: ZoneSummary): string {
  if (suspended === true) return ':red_circle: suspended';
  if (enabled === false) return ':white_circle: disabled';
  return enabled === true ? ':large_green_circle: active' : 'state not reported';
}

/** `812 GB of 1,000 GB (81 %)`, `52.4 MB, no limit`. */
export function describeUsage({ bandwidthUsed: used, bandwidthLimit: limit }: ZoneSummary): string {
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

export function renderRow(zone: ZoneSummary): KnownBlock {
  const attention = describeAttention(zone);
  const [hostname, ...others] = zone.hostnames;
  const more = others.length > 0 ? ` +${others.length}` : '';
  const facts = [
    describeUsage(zone),
    zone.charges === undefined ? '' : formatMoney(zone.charges),
    hostname === undefined ? 'no hostname' : escapeMrkdwn(hostname, 60) + more,
  ];
  const lines = [
    `*${escapeMrkdwn(zone.name, 60) || 'unnamed'}* · ${describeState(zone)} · ${escapeMrkdwn(zone.id, 20)}`,
    join(facts, ' · '),
    attention && `:warning: ${attention}`,
  ];
  return section(lines, showButton(zone.id));
}

export function renderZoneForm(): ModalView {
  return modal({ callbackId: 'zones:submit', title: 'Show a zone', submit: 'Show' }, [renderZoneInput()]);
}

/** A menu with search over ids, names and hostnames, for any form that asks for a zone. */
export function renderZoneInput(): InputBlock {
  return searchSelect('zone', 'Zone', {
    actionId: 'zones:pick',
    placeholder: 'Type a part of its name or hostname',
    focus: true,
  });
}

export function renderZoneOption({ id, name, hostnames: [hostname] }: ZoneSummary): Option {
  return option(hostname ? `${name || id} · ${hostname}` : name || id, id);
}

/** Words that do not name exactly one zone: `near` are names or hostnames that may have been meant. */
export type UnclearZone =
  | { readonly kind: 'several'; readonly words: string; readonly zones: readonly ZoneSummary[] }
  | { readonly kind: 'none'; readonly typed: string; readonly near: readonly string[] };

const maxChoices = 10;

/** Asks which zone was meant. `command` needs it, with the words `behind` it. */
export function renderUnclearZone(
  found: UnclearZone,
  command: 'zone' | 'errors' = 'zone',
  behind = '',
): Message {
  const writeCommand = (zone: string): string => `${command} ${quoteWord(zone)} ${behind}`.trim();
  if (found.kind === 'none') {
    const text = `No zone has the id, name or hostname ${formatCode(found.typed, 60)}.`;
    return message(text, [
      section(found.near.length > 0 ? `${text} Did you mean one of these?` : text),
      actions(
        ...found.near.map((name, nth) => commandButton(plainText(name, 60), writeCommand(name), nth)),
        commandButton('Search in a form', command, 8),
        commandButton('All zones', 'zones', 9),
      ),
    ]);
  }
  const { words, zones } = found;
  const text = `${pluralize(zones.length, 'zone')} match ${formatCode(words, 60)}. Which one?`;
  const more = zones.length - maxChoices;
  const all = commandButton('See all', `zones ${quoteWord(words.slice(0, 100))}`);
  return message(text, [
    section(text),
    ...zones.slice(0, maxChoices).map(({ id, name, hostnames }) => {
      const known = hostnames.slice(0, 2).map((hostname) => escapeMrkdwn(hostname, 60));
      return section(
        `*${escapeMrkdwn(name, 60) || 'unnamed'}* · ${escapeMrkdwn(id, 20)}\n${known.join(', ') || 'no hostname'}`,
        command === 'zone' ? showButton(id) : commandButton('Choose', writeCommand(id)),
      );
    }),
    more > 0 && section(`and ${formatInteger(more)} more`, all),
  ]);
}
