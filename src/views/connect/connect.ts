import type { Button, ModalView } from '@slack/types';
import type { LinkedKey } from '../../auth/keys/key-store.ts';
import type { Rights } from '../../auth/policy/policy.ts';
import {
  actions,
  context,
  type FormResult,
  type Message,
  message,
  plain,
  say,
  section,
} from '../blocks/blocks.ts';
import { button, commandButton, confirmation, connectButton } from '../blocks/buttons.ts';
import { formatMoment, pluralize } from '../blocks/format.ts';
import { formResult, modal, textInput } from '../blocks/inputs.ts';
import { formatCode } from '../blocks/text.ts';
import { rightsLine } from '../settings/why.ts';

/** The reason for which a key was not connected: mrkdwn in Slack, plain text on the page. */
export type KeyProblem = { readonly message: string; readonly hint?: string };

/** A key that was connected; `zones` says how many it sees. */
export interface Connected extends Pick<LinkedKey, 'fingerprint'> {
  readonly zones: string;
}

/** For people with a key: rarely needed, so not in the foreground. */
export function keyButtons(): [replace: Button, forget: Button] {
  return [connectButton('Replace key', {}), forgetButton()];
}

/** The form for a key. `problem` is the reason for showing it again; the typed key is never put back. */
export function renderConnectForm(problem?: KeyProblem): ModalView {
  return modal({ callbackId: 'connect:submit', title: 'Connect your CDN key', submit: 'Connect' }, [
    problem && section(`:warning: *${problem.message}*\n${problem.hint ?? ''}`),
    section(
      'What you type here passes through Slack to this bot, which checks it with one read and then keeps it ' +
        'encrypted, for you alone. It is never shown again; a key you connected before is replaced.',
    ),
    textInput('accessKey', 'API key', {
      hint: 'In the CDN control panel: Account settings, API key. Others may read your screen now.',
      placeholder: 'Paste the key',
      maxLength: 500,
      focus: true,
    }),
  ]);
}

/** The one-time link to the page. Its address is only in the button, since notifications show the text. */
export function renderPageOffer({ url, minutes }: { url: string; minutes: number }): Message {
  const look = { text: plain('Open the page'), style: 'primary' } as const;
  const open: Button = { type: 'button', ...look, action_id: 'connect:link', url };
  const offer = message('Here is your page to connect a CDN key.', [
    section(
      '*Connect your CDN key on a page of its own.* It goes straight to the bot, not through Slack, ' +
        'and is kept encrypted, for you alone. A key you connected before is replaced.',
    ),
    actions(open),
    context(
      `Works once, for ${pluralize(minutes, 'minute')}, and for you only: pass it to nobody, ` +
        'since a key entered there becomes yours to act with.',
    ),
  ]);
  return { ...offer, carries: ['link-token'] };
}

/** Sent when a key was connected on the page, so that a key connected by another person is noticed. */
export function renderConnectedOnPage({ fingerprint, zones }: Connected): Message {
  const text = `A CDN key was just connected for you on the bot’s page. It sees ${zones}.`;
  return message(`${text} Not you? Disconnect it.`, [
    section(`:key: *${text}*\nFingerprint ${formatCode(fingerprint)}. Not you? Disconnect it.`),
    actions(forgetButton('Disconnect')),
  ]);
}

export function renderChecking(): ModalView {
  return modal({ callbackId: 'connect:busy', title: 'Connect your CDN key' }, [
    section('Checking…\nThe bot reads the smallest page of your zones with this key.'),
  ]);
}

/** The key is connected: in the form, and as a message for a person who closed it. */
export function renderConnected({ fingerprint, zones }: Connected): FormResult {
  const text = `Your key works and is kept encrypted. It sees ${zones}.`;
  return formResult({ callbackId: 'connect:done', title: 'Connected' }, text, [
    section(`:white_check_mark: *Your key works and is kept encrypted.* It sees ${zones}.`),
    section('Next: type `/cdn zones` for the list, `/cdn zone` for one of them, `/cdn help` for the rest.'),
    context(
      `Fingerprint ${formatCode(fingerprint)} · \`/cdn whoami\` shows it, \`/cdn disconnect\` forgets the key.`,
    ),
  ]);
}

/** For a person who closed the form before the check failed. */
export function renderNotConnected(why: KeyProblem): Message {
  const text = `${why.message} ${why.hint ?? ''}`;
  return message(text, [section(`:warning: ${text}`), actions(connectButton('Open the form again'))]);
}

export function renderWhoami(me: { userId: string; linked: LinkedKey | undefined; rights: Rights }): Message {
  const { userId, linked, rights } = me;
  const line = rightsLine(rights);
  if (!linked) {
    const instead = rights.admin
      ? 'You are an admin: `/cdn settings` works without one, the rest needs it.'
      : 'Without one you may run `/cdn help` only.';
    return message(`No CDN key is connected for you. ${line}`, [
      section(`<@${userId}>, *no CDN key is connected for you.* ${instead}\n${line}`),
      actions(connectButton(), rights.admin && commandButton('Settings', 'settings', 1)),
    ]);
  }
  const { fingerprint, linkedAt } = linked;
  return message(`Your key with the fingerprint ${fingerprint} is connected, ${line}.`, [
    section(
      `<@${userId}>, *your CDN key is connected.*\nFingerprint ${formatCode(fingerprint)} · since ${formatMoment(linkedAt)} · ${line}`,
    ),
    actions(commandButton('Zones', 'zones'), ...keyButtons()),
  ]);
}

/** `cancelled`: how many requests that waited were cancelled with it. */
export function renderDisconnected(had: boolean, cancelled: number): Message {
  const forgotten = had
    ? 'Your CDN key is forgotten. Nothing of it is left here; in the CDN control panel it stays valid.'
    : 'There was no CDN key to forget: none is connected for you.';
  const requests = `${pluralize(cancelled, 'request')} of yours`;
  const text =
    cancelled === 0
      ? forgotten
      : `${forgotten} ${requests} waited and ${cancelled === 1 ? 'was' : 'were'} cancelled.`;
  return say(text, actions(connectButton(had ? 'Connect another key' : 'Connect your key')));
}

/** Contains nothing of the typed text: it may be the key. */
export function renderKeyPasted(why: 'looks-like-key' | 'words-after-connect'): Message {
  const what =
    why === 'looks-like-key'
      ? 'That looks like a key, so nothing was run.'
      : '`/cdn connect` takes no words after it, so nothing was run.';
  const advice =
    'Slack keeps what is typed, so a key in there counts as exposed: make a new one in the CDN control panel and ' +
    'delete the old one. If it stands in a message, delete that too. It was not stored here.';
  return message(`${what} ${advice}`, [
    section(`:warning: *${what}*`),
    section(advice),
    section('Then connect the new one:', connectButton('Connect the new key')),
  ]);
}

/** Asks once more, since a press is easily an accident, and the key would have to be fetched from the control panel. */
function forgetButton(label = 'Forget my key'): Button {
  return button(label, 'connect:forget', 'forget', {
    style: 'danger',
    confirm: confirmation(
      'Forget your CDN key?',
      'You can connect one again at any time.',
      'Forget it',
      'Keep it',
    ),
  });
}

/** How many zones a key sees, as far as its first page tells. */
export function countZones(first: { total: number | undefined; zones: unknown[]; more: boolean }): string {
  const { total, zones, more } = first;
  return `${more && total === undefined ? 'more than ' : ''}${pluralize(total ?? zones.length, 'zone')}`;
}
