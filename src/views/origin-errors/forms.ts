import type { ModalView } from '@slack/types';
import { actions, section } from '../blocks/blocks.ts';
import { commandButton } from '../blocks/buttons.ts';
import { pluralize } from '../blocks/format.ts';
import { modal, option, select, textInput } from '../blocks/inputs.ts';
import { capitalize, formatCode, plainText } from '../blocks/text.ts';
import { renderZoneInput } from '../zones/rows.ts';
import { dayChoices } from './origin-errors.ts';

const title = 'Origin errors';

/** The form that asks for a zone and days. `chosen` are the typed days. */
export function renderOriginErrorForm(chosen: (typeof dayChoices)[number]): ModalView {
  const options = dayChoices.map((choice) => option(capitalize(choice), choice));
  const hint = 'Days are UTC. Any other day: /cdn errors shop 2026-11-20';
  return modal({ callbackId: 'origin-errors:submit', title, submit: 'Show' }, [
    renderZoneInput(),
    select('days', 'Days', options, { chosen, hint }),
  ]);
}

/** Shown while the origin errors of a link are counted. */
export function renderLinkLoading(host?: string): ModalView {
  const where = host === undefined ? '' : ` of ${formatCode(host, 100)}`;
  return modal({ title }, [section(`Reading today’s origin errors${where}…`)]);
}

export function renderLinkChoice(hosts: readonly string[]): ModalView {
  return modal({ title }, [
    section(`This message links to ${pluralize(hosts.length, 'host')}. Which one’s origin errors?`),
    actions(...hosts.map((host, index) => commandButton(plainText(host, 75), `errors ${host}`, index))),
  ]);
}

export function renderLinkForm(): ModalView {
  return modal({ callbackId: 'origin-errors:link', title, submit: 'Look up' }, [
    section('*There is no link in this message.* Paste one, or type a zone.'),
    textInput('link', 'Link, hostname or zone', {
      placeholder: 'https://cdn.example.com/images/a.jpg',
      maxLength: 2000,
      focus: true,
    }),
  ]);
}
