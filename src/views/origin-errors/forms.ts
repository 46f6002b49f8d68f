import type { ModalView } from '@slack/types';
import { actions, section } from '../blocks/blocks.ts';
import { commandButton } from '../blocks/buttons.ts';
import { pluralize } from '../blocks/format.ts';
import { modal, textInput } from '../blocks/inputs.ts';
import { formatCode, plainText } from '../blocks/text.ts';

const title = 'Origin errors';

/** Shown while the origin errors of a link are counted. */
export function renderLinkLoading(host?: string): ModalView {
  const where = host === undefined ? '' : ` of ${formatCode(host, 100)}`;
  return modal({ title }, [section(`Reading the origin errors${where}…`)]);
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
