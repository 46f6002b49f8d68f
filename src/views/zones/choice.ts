import type { Button, InputBlock, ModalView, Option } from '@slack/types';
import type { ZoneSummary } from '../../api/zones/summary.ts';
import { actions, commandButton, message, section } from '../blocks/blocks.ts';
import { modal, option, searchSelect } from '../blocks/inputs.ts';
import type { Message } from '../blocks/message.ts';
import { escapeMrkdwn, formatCode, formatInteger, plainText, pluralize } from '../blocks/text.ts';
import { quoteWord, showButton } from './row.ts';

/** The form that asks for a zone. */
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

/** A line of that menu. */
export function renderZoneOption({ id, name, hostnames: [hostname] }: ZoneSummary): Option {
  return option(hostname ? `${name || id} · ${hostname}` : name || id, id);
}

const maxChoices = 10;

/** The command that needs the zone, and the words after the zone. */
interface LookupPurpose {
  readonly command: 'zone' | 'errors';
  readonly behind?: string;
}

/** Words that do not name exactly one zone: `near` are names or hostnames that may have been meant. */
export type UnclearZone =
  | { readonly kind: 'several'; readonly words: string; readonly zones: readonly ZoneSummary[] }
  | { readonly kind: 'none'; readonly typed: string; readonly near: readonly string[] };

export function renderUnclearZone(found: UnclearZone, wanted: LookupPurpose = { command: 'zone' }): Message {
  return found.kind === 'several'
    ? renderZoneChoice(found.words, found.zones, wanted)
    : renderNoZone(found.typed, found.near, wanted);
}

/** Several zones match. */
export function renderZoneChoice(
  words: string,
  found: readonly ZoneSummary[],
  wanted: LookupPurpose = { command: 'zone' },
): Message {
  const text = `${pluralize(found.length, 'zone')} match ${formatCode(words, 60)}. Which one?`;
  const zones = found.slice(0, maxChoices);
  const more = found.length - zones.length;
  return message(text, [
    section(text),
    ...zones.map((zone) => section(formatChoice(zone), renderChooseButton(zone, wanted))),
    ...(more > 0
      ? [
          section(
            `and ${formatInteger(more)} more`,
            commandButton('See all', `zones ${quoteWord(words.slice(0, 100))}`),
          ),
        ]
      : []),
  ]);
}

/** No zone matches. `near`: names or hostnames that may have been meant. */
export function renderNoZone(
  typed: string,
  near: readonly string[],
  wanted: LookupPurpose = { command: 'zone' },
): Message {
  const text = `No zone has the id, name or hostname ${formatCode(typed, 60)}.`;
  return message(text, [
    section(near.length > 0 ? `${text} Did you mean one of these?` : text),
    actions(
      ...near.map((name, index) => commandButton(plainText(name, 60), formatCommand(wanted, name), index)),
      commandButton('Search in a form', wanted.command, 8),
      commandButton('All zones', 'zones', 9),
    ),
  ]);
}

function renderChooseButton(zone: ZoneSummary, wanted: LookupPurpose): Button {
  return wanted.command === 'zone'
    ? showButton(zone.id)
    : commandButton('Choose', formatCommand(wanted, zone.id));
}

function formatCommand({ command, behind = '' }: LookupPurpose, zone: string): string {
  return `${command} ${quoteWord(zone)} ${behind}`.trim();
}

function formatChoice(zone: ZoneSummary): string {
  const hostnames = zone.hostnames.slice(0, 2).map((hostname) => escapeMrkdwn(hostname, 60));
  return `*${escapeMrkdwn(zone.name, 60) || 'unnamed'}* · ${escapeMrkdwn(zone.id, 20)}\n${hostnames.join(', ') || 'no hostname'}`;
}
