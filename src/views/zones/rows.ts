import type { Button, ExternalSelect, ModalView, Option } from '@slack/types';
import { type Attention, attentionReasons, isAtLimit, type ZoneSummary } from '../../api/zones/summary.ts';
import { actions, limits, type Message, message, plain, section } from '../blocks/blocks.ts';
import { button, commandButton, selectOf } from '../blocks/buttons.ts';
import { formatBytes, formatPercent, listSome, pluralize } from '../blocks/format.ts';
import { modal, option, searchSelect } from '../blocks/inputs.ts';
import { capitalize, formatCode, join, plainText } from '../blocks/text.ts';

/** Behind the name of a zone, whose share of its limit is in another column. */
export function describeStatus(zone: ZoneSummary): string {
  const reasons = attentionReasons(zone).filter((reason) => reason !== 'near-limit');
  if (reasons.length === 0 && !isActive(zone)) return 'state not reported';
  return reasons.join(', ').replace('-', ' ');
}

export function describeNeeds(zone: ZoneSummary): string {
  const reasons = attentionReasons(zone);
  const isAlone = reasons.length === 1;
  const share = describeShare(zone);
  const words: Record<Attention, string> = {
    suspended: 'suspended',
    disabled: 'disabled',
    'near-limit': isAtLimit(zone) ? 'at limit' : isAlone ? `${share} of limit` : share,
    'no-certificate': isAlone ? 'no certificate' : 'no cert.',
  };
  return reasons.map((reason) => words[reason]).join(', ');
}

export function describeCondition(zone: ZoneSummary): string {
  const without = zone.hostnamesWithoutCertificate.map((hostname) => formatCode(hostname, 60));
  const words: Record<Attention, string> = {
    suspended: '*suspended*',
    disabled: '*disabled*',
    'near-limit': isAtLimit(zone) ? 'at its limit' : `at ${describeShare(zone)} of its limit`,
    'no-certificate': `without a certificate for ${listSome(without, 1)}`,
  };
  const reasons = attentionReasons(zone).map((reason) => words[reason]);
  if (reasons.length > 0)
    return `is ${[reasons.slice(0, -1).join(', '), reasons.at(-1)].filter(Boolean).join(' and ')}`;
  if (isActive(zone)) return 'is active';
  return zone.enabled ? 'is enabled, suspended not reported' : 'does not report its state';
}

/** Where both are reported. */
export function isActive({ enabled, suspended }: ZoneSummary): boolean {
  return enabled === true && suspended === false;
}

function describeShare({ bandwidthUsed: used = 0, bandwidthLimit: limit = 0 }: ZoneSummary): string {
  return formatPercent(used, limit);
}

/** The share is left out where the line above has it. */
export function describeUsage(zone: ZoneSummary): string {
  const { bandwidthUsed: used, bandwidthLimit: limit } = zone;
  const noLimit = zone.isUnlimited ? 'no limit' : 'limit not reported';
  if (used === undefined)
    return `bandwidth not reported, ${limit === undefined ? noLimit : `limit ${formatBytes(limit)} a month`}`;
  if (limit === undefined) return `${formatBytes(used)} this month, ${noLimit}`;
  const share = attentionReasons(zone).includes('near-limit') ? '' : ` (${formatPercent(used, limit)})`;
  return `${formatBytes(used)} of ${formatBytes(limit)}${share} this month`;
}

export function showButton(id: string, label: string): Button {
  return button(label, 'zones:show', id);
}

export function quoteWord(text: string): string {
  return /[\s:=]/u.test(text) ? `"${text.replaceAll('"', '')}"` : text;
}

export function quoteName(text: string): string {
  return ambiguousName.test(text) ? `"${text}"` : quoteWord(text);
}

/** Names that a command would read as a time or as another word. */
const ambiguousName =
  /^(?:all|none|now|noon|midnight|tonight|overnight|hour|weekend|week|month|\w*day|january|february|march|april|may|june|july|august|october|\w+ember|\d+[mhdw]\w*|k?w\d+)$/iu;

/** Opens a zone from a message: `zones:pick` has its options. Another action is one of the picker's fields. */
export function pickZone(actionId = 'zones:open', placeholder = 'Open a zone…'): ExternalSelect {
  return {
    type: 'external_select',
    action_id: actionId,
    placeholder: plain(placeholder),
    min_query_length: 0,
  };
}

export function renderZoneForm(): ModalView {
  return modal({ callbackId: 'zones:submit', title: 'Show a zone', submit: 'Show' }, [
    searchSelect('zone', 'Zone', {
      actionId: 'zones:pick',
      placeholder: 'Type part of its name or hostname',
      focus: true,
    }),
  ]);
}

export function renderZoneOption({ id, name, hostnames: [hostname] }: ZoneSummary): Option {
  return option(hostname ? `${name || id} · ${hostname}` : name || id, id);
}

export type UnclearZone =
  | { readonly kind: 'several'; readonly words: string; readonly zones: readonly ZoneSummary[] }
  | {
      readonly kind: 'none';
      readonly typed: string;
      readonly near: readonly string[];
      /** Zones that could not be read: it may be one of them. */
      readonly unread: number;
    };

export function describeNoZone({ typed, unread }: Extract<UnclearZone, { kind: 'none' }>): string {
  const isUnsure = unread > 0 && `${capitalize(pluralize(unread, 'zone'))} could not be read.`;
  return join([`No zone has the ID, name or hostname ${formatCode(typed, 60)}.`, isUnsure], ' ');
}

export function renderUnclearZone(
  found: UnclearZone,
  command: 'zone' | 'errors' | 'here zone' | 'changes' | 'compare' | `compare ${string}` = 'zone',
  behind = '',
): Message {
  const writeCommand = (zone: string): string => `${command} ${quoteName(zone)} ${behind}`.trim();
  if (found.kind === 'none') {
    const text = describeNoZone(found);
    return message(text, [
      section(found.near.length > 0 ? `${text} Did you mean one of these?` : text),
      actions(
        ...found.near
          .slice(0, 2)
          .map((name, nth) => commandButton(plainText(name, 60), writeCommand(name), nth)),
        command === 'errors'
          ? found.near.length < 2 && commandButton('Which zones fail', 'errors all', 8)
          : found.near.length < 2 && command !== 'changes' && commandButton('Search in a form', command, 8),
        commandButton('All zones', 'zones', 9),
      ),
    ]);
  }
  const { words, zones } = found;
  const text = `${pluralize(zones.length, 'zone matches', 'zones match')} ${formatCode(words, 60)}. Which one?`;
  const choices = zones.map(({ id, name, hostnames: [hostname] }) =>
    commandButton(join([name || 'unnamed', id, hostname], ' · '), writeCommand(id)),
  );
  return message(text, [
    section(text),
    actions(
      selectOf('Choose a zone…', choices),
      zones.length > limits.options && commandButton('See all', `zones ${quoteWord(words.slice(0, 100))}`),
    ),
  ]);
}
